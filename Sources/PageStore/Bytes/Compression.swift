import CLZ4

/// LZ4 blocks.
package enum Compression {
    /// Appends the bytes compressed, when that saves at least an eighth. Returns whether it did.
    static func appendCompressed(_ source: ByteView, to buffer: ByteBuffer) -> Bool {
        appendCompressed(source, to: buffer, sizeMax: source.count - source.count / 8)
    }

    /// Appends the bytes compressed, when that takes no more than the given bytes. Returns whether
    /// it did.
    static func appendCompressed(
        _ source: ByteView, to buffer: ByteBuffer, sizeMax limit: Int
    ) -> Bool {
        guard limit > 0, source.count <= Limits.compressedBytesMax else { return false }
        var used: Int32 = 0
        unsafe buffer.appendUpTo(limit) { room in
            // Safety: LZ4 writes at most `limit` bytes and reads `source.count`.
            used = unsafe LZ4_compress_default(
                source.base.assumingMemoryBound(to: CChar.self),
                room.assumingMemoryBound(to: CChar.self), Int32(source.count), Int32(limit))
            return Int(max(used, 0))
        }
        return used > 0
    }

    /// Appends the bytes compressed against others that the decoder has too, when that takes no
    /// more than the given bytes. Returns whether it did.
    static func appendCompressed(
        _ source: ByteView, against dictionary: ByteView, to buffer: ByteBuffer, sizeMax: Int
    ) -> Bool {
        guard sizeMax > 0, source.count <= Limits.compressedBytesMax else { return false }
        var used: Int32 = 0
        unsafe buffer.appendUpTo(sizeMax) { room in
            // Not made of zeros: loading a dictionary resets all of it.
            unsafe withUnsafeTemporaryAllocation(of: LZ4_stream_t.self, capacity: 1) { streams in
                // Safety: there is room for one stream. LZ4 reads both views within their counts
                // and writes at most `sizeMax` bytes.
                let stream = streams.baseAddress
                unsafe LZ4_loadDict(
                    stream, dictionary.base.assumingMemoryBound(to: CChar.self),
                    Int32(dictionary.count))
                used = unsafe LZ4_compress_fast_continue(
                    stream, source.base.assumingMemoryBound(to: CChar.self),
                    room.assumingMemoryBound(to: CChar.self), Int32(source.count),
                    Int32(sizeMax), 1)
            }
            return Int(max(used, 0))
        }
        return used > 0
    }

    /// Decompresses a block into the destination, with the dictionary that it was compressed
    /// against. False when the source is not an LZ4 block of exactly as many bytes as the
    /// destination has; never reads or writes outside. Of blocks that break rules for their end,
    /// which no compressor makes, the library accepts some: only long ones, then.
    static func decompress(
        _ source: ByteView, against dictionary: ByteView? = nil, into destination: PageBuffer
    ) -> Bool {
        guard source.count <= Limits.compressedBytesMax,
            destination.count <= Limits.compressedBytesMax
        else { return false }
        if LongMatchDecoder.suits(source, destination) {
            return LongMatchDecoder.decompress(source, against: dictionary, into: destination)
        }
        return decompressByLibrary(source, against: dictionary, into: destination)
    }

    /// The same for a source and a destination of at most `compressedBytesMax`.
    static func decompressByLibrary(
        _ source: ByteView, against dictionary: ByteView?, into destination: PageBuffer
    ) -> Bool {
        // Safety: the "safe" decoders check every length and distance against the counts.
        let from = unsafe source.base.assumingMemoryBound(to: CChar.self)
        let to = unsafe destination.base.assumingMemoryBound(to: CChar.self)
        let (count, countMax) = (Int32(source.count), Int32(destination.count))
        let written =
            if let dictionary {
                unsafe LZ4_decompress_safe_usingDict(
                    from, to, count, countMax,
                    dictionary.base.assumingMemoryBound(to: CChar.self), Int32(dictionary.count))
            } else {
                unsafe LZ4_decompress_safe(from, to, count, countMax)
            }
        return Int(written) == destination.count
    }
}

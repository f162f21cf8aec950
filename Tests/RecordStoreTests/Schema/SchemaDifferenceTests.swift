import PageStore
import RecordStore
import SampleSchemas
import Testing

/// The edits that turn one schema into another: one for each change, and none for an order.
@Suite struct SchemaDifferenceTests {
    private static let schema = SampleSchema.animals(
        indexes: [["age"]], dogIndexes: [["age", "tricks"]])

    private func edits(_ change: (inout SchemaDescription) -> Void) -> [SchemaEdit] {
        var other = Self.schema
        change(&other)
        return SchemaDifference.edits(from: Self.schema, to: other)
    }

    private let age = PropertyPath("Animal", "age")
    private let home = PropertyPath("Animal", "home")
    private let animals = PropertyPath("Home", "animals")

    @Test func `another order, other defaults and the other side of an inverse are no edits`() {
        #expect(edits { $0.entities.reverse() } == [])
        #expect(edits { $0.entities[0].attributes.reverse() } == [])
        #expect(edits { $0.modelVersion = "V2" } == [])
        #expect(edits { $0.entities[0].attributes[1].defaultValue = .int(3) } == [])
        #expect(edits { $0.entities[0].attributes[1].previousName = "years" } == [])
        let turned = edits {
            $0.entities[0].relationships[0].inverseName = "animals"
            $0.entities[2].relationships[0].inverseName = nil
        }
        #expect(turned == [])
    }

    @Test func `each change of an entity is one edit`() {
        #expect(
            edits { $0.entities.append(EntityDescription("Cat")) }
                == [.entityAdded("Cat")])
        #expect(edits { $0.entities.remove(at: 1) } == [.entityRemoved("Dog")])
        #expect(
            edits {
                $0.entities[1].superentityName = nil
                $0.entities[1].indexes = []
            } == [
                .superentityChanged("Dog", from: "Animal", to: nil),
                .indexRemoved("Dog", columns: ["age", "tricks"]),
            ])
        #expect(
            edits { $0.entities[0].isAbstract = true }
                == [.abstractnessChanged("Animal", isAbstract: true)])
        #expect(
            edits { $0.entities[0].versionHashModifier = "2" }
                == [.entityModifierChanged("Animal", from: nil, to: "2")])
        #expect(
            edits { $0.entities[0].className = "Beast" }
                == [.classChanged("Animal", from: "Animal", to: "Beast")])
        #expect(
            edits { $0.entities[0].uniqueConstraints = [["age"]] } == [
                .constraintRemoved("Animal", columns: ["species"]),
                .constraintAdded("Animal", columns: ["age"]),
            ])
    }

    @Test func `each change of a property is one edit`() {
        #expect(
            edits { $0.entities[0].attributes[1].type = .int32 }
                == [.typeChanged(age, from: .int64, to: .int32)])
        #expect(
            edits { $0.entities[0].attributes[1].isOptional = true }
                == [.optionalityChanged(age, isOptional: true)])
        #expect(
            edits { $0.entities[0].attributes[1].isCoded = true }
                == [.codingChanged(age, isCoded: true)])
        #expect(
            edits { $0.entities[0].attributes[1].versionHashModifier = "2" }
                == [.propertyModifierChanged(age, from: nil, to: "2")])
        #expect(
            edits { $0.entities[2].relationships[0].kind = .toManyOrdered }
                == [.kindChanged(animals, from: .toManyUnordered, to: .toManyOrdered)])
        #expect(
            edits { $0.entities[2].relationships[0].deleteRule = .cascade }
                == [.deleteRuleChanged(animals, from: .nullify, to: .cascade)])
        #expect(
            edits {
                $0.entities[2].relationships[0].minCount = 1
                $0.entities[2].relationships[0].maxCount = 4
            } == [
                .minCountChanged(animals, from: 0, to: 1),
                .maxCountChanged(animals, from: 0, to: 4),
            ])
        #expect(
            edits { $0.entities[2].relationships[0].inverseName = nil } == [
                .inverseChanged(home, from: animals, to: nil),
                .inverseChanged(animals, from: home, to: nil),
            ])
        #expect(
            edits {
                $0.entities[0].attributes.removeLast()
                $0.entities[0].indexes = []
                $0.entities[1].indexes = []
                $0.entities[1].attributes.append(.required("age", .int64))
            } == [
                .propertyRemoved(age), .propertyAdded(PropertyPath("Dog", "age")),
                .indexRemoved("Animal", columns: ["age"]),
                .indexRemoved("Dog", columns: ["age", "tricks"]),
            ])
    }

    @Test func `an attribute that becomes a relationship is another property`() {
        let edits = edits {
            $0.entities[1].attributes = []
            $0.entities[1].relationships = [.toOne("tricks", to: "Home")]
        }
        let tricks = PropertyPath("Dog", "tricks")
        #expect(edits == [.propertyRemoved(tricks), .propertyAdded(tricks)])
    }

    @Test func `an earlier name renames an entity or property wherever it is used`() {
        let edits = edits {
            $0.entities[0].name = "Beast"
            $0.entities[0].previousName = "Animal"
            $0.entities[0].attributes[1].name = "years"
            $0.entities[0].attributes[1].previousName = "age"
            $0.entities[0].relationships[0].name = "house"
            $0.entities[0].relationships[0].previousName = "home"
            $0.entities[0].indexes = [["years"]]
            $0.entities[1].superentityName = "Beast"
            $0.entities[1].indexes = [["years", "tricks"]]
            $0.entities[2].relationships[0].destinationEntityName = "Beast"
            $0.entities[2].relationships[0].inverseName = "house"
        }
        #expect(
            edits == [
                .entityRenamed(from: "Animal", to: "Beast"),
                .propertyRenamed(from: age, to: PropertyPath("Beast", "years")),
                .propertyRenamed(from: home, to: PropertyPath("Beast", "house")),
            ])
    }

    @Test func `an earlier name that is still taken renames nothing`() {
        let edits = edits {
            $0.entities[0].attributes.append(.required("years", .int64, previousName: "age"))
        }
        #expect(edits == [.propertyAdded(PropertyPath("Animal", "years"))])
    }

    @Test func `a previous name wins over an older property of the later name`() {
        var old = Self.schema
        old.entities[0].attributes.append(.required("years", .int64))
        old.entities[0].attributes.append(.required("moons", .int64))
        let years = PropertyPath("Animal", "years")
        let moons = PropertyPath("Animal", "moons")
        func edits(_ change: (inout [AttributeDescription]) -> Void) -> [SchemaEdit] {
            var new = old
            change(&new.entities[0].attributes)
            return SchemaDifference.edits(from: old, to: new)
        }
        func named(_ name: String, _ previous: String) -> AttributeDescription {
            .required(name, .int64, previousName: previous)
        }
        let taken = edits { $0.replaceSubrange(($0.count - 2)..., with: [named("years", "moons")]) }
        #expect(taken == [.propertyRemoved(years), .propertyRenamed(from: moons, to: years)])
        let swapped = edits {
            $0.replaceSubrange(
                ($0.count - 2)..., with: [named("years", "moons"), named("moons", "years")])
        }
        #expect(
            swapped == [
                .propertyRenamed(from: moons, to: years),
                .propertyRenamed(from: years, to: moons),
            ])
        // One that keeps its name is nobody else's.
        #expect(edits { $0[$0.count - 2].previousName = "moons" } == [])
        // What was renamed is not renamed again.
        old.entities[0].attributes.replaceSubrange(
            (old.entities[0].attributes.count - 2)...,
            with: [
                named("years", "moons"), named("moons", "years"),
            ])
        #expect(edits { _ in } == [])
    }

    @Test func `names that differ in their bytes alone are names`() {
        var (old, new) = (Self.schema, Self.schema)
        let names = ["caf\u{e9}", "cafe\u{301}"]
        old.entities[0].attributes.append(.required(names[0], .int64))
        new.entities[0].attributes.append(.required(names[1], .int64))
        let edits = SchemaDifference.edits(from: old, to: new)
        guard case .propertyRenamed(let from, let to)? = edits.first, edits.count == 1 else {
            Issue.record("\(edits)")
            return
        }
        #expect([from.name, to.name].map { Array($0.utf8) } == names.map { Array($0.utf8) })
    }

    @Test func `a property renamed twice is found by the earlier name of both versions`() {
        func renamed(_ name: String, _ others: AttributeDescription...) -> SchemaDescription {
            var schema = Self.schema
            schema.entities[0].attributes[1].name = name
            schema.entities[0].attributes[1].previousName = "age"
            schema.entities[0].attributes += others
            schema.entities[0].indexes = []
            schema.entities[1].indexes = []
            return schema
        }
        let years = PropertyPath("Animal", "years")
        let seasons = PropertyPath("Animal", "seasons")
        #expect(
            SchemaDifference.edits(from: renamed("years"), to: renamed("seasons"))
                == [.propertyRenamed(from: years, to: seasons)])
        // Two attributes have the earlier name, so neither is the renamed one.
        let twin = AttributeDescription.required("months", .int64, previousName: "age")
        #expect(
            SchemaDifference.edits(from: renamed("years", twin), to: renamed("seasons", twin))
                == [.propertyRemoved(years), .propertyAdded(seasons)])
    }

    @Test func `the refusal of a model names the first edit and the number of others`() throws {
        let files = MemoryFileSystem()
        func open(_ change: (inout SchemaDescription) -> Void) throws -> StoreError? {
            var schema = Self.schema
            change(&schema)
            do throws(StoreError) {
                try RecordDatabase.open(.file("store"), schema: schema, files: files).close()
                return nil
            } catch {
                return error
            }
        }
        #expect(try open { _ in } == nil)
        let one = try open { $0.entities[0].attributes[1].type = .int32 }
        #expect(one?.code == .schemaMismatch)
        #expect(
            one?.message
                == "the model is not the one of the file: "
                + "Animal.age: its type was int64 and is int32"
        )
        let three = try open {
            $0.entities[0].attributes[1].type = .int32
            $0.entities[0].attributes[0].type = .uuid
            $0.entities[1].attributes[0].type = .uuid
            // Nothing is stored in it.
            $0.entities[0].relationships = []
            $0.entities[2].relationships = []
            $0.entities[1].indexes = []
            // A change that the catalog alone can follow needs no migration of records.
            $0.entities[1].isAbstract = true
        }
        #expect(three?.message.hasSuffix("and 2 more differences") == true)
        #expect(try open { $0.entities[2].className = "House" } == nil)
    }
}

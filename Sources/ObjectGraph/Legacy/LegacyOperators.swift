infix operator .= : AssignmentPrecedence
infix operator .== : ComparisonPrecedence

// `dog.name .= "Rex"` assigns a value, and `dog.name .== "Rex"` compares with one: a property is an
// object, so that `=` and `==` are about the property itself.

extension ValueContainer.Required {
    public static func .= (left: ValueContainer<O>.Required<V>, right: V) { left.value = right }

    public static func .= <O2: CoreStoreObject>(
        left: ValueContainer<O>.Required<V>, right: ValueContainer<O2>.Required<V>
    ) {
        left.value = right.value
    }

    public static func .== (left: ValueContainer<O>.Required<V>, right: V?) -> Bool {
        left.value == right
    }

    public static func .== <O2: CoreStoreObject>(
        left: ValueContainer<O>.Required<V>, right: ValueContainer<O2>.Required<V>
    ) -> Bool {
        left.value == right.value
    }

    public static func .== <O2: CoreStoreObject>(
        left: ValueContainer<O>.Required<V>, right: ValueContainer<O2>.Optional<V>
    ) -> Bool {
        left.value == right.value
    }
}

extension ValueContainer.Optional {
    public static func .= (left: ValueContainer<O>.Optional<V>, right: V?) { left.value = right }

    public static func .= <O2: CoreStoreObject>(
        left: ValueContainer<O>.Optional<V>, right: ValueContainer<O2>.Optional<V>
    ) {
        left.value = right.value
    }

    public static func .= <O2: CoreStoreObject>(
        left: ValueContainer<O>.Optional<V>, right: ValueContainer<O2>.Required<V>
    ) {
        left.value = right.value
    }

    public static func .== (left: ValueContainer<O>.Optional<V>, right: V?) -> Bool {
        left.value == right
    }

    public static func .== <O2: CoreStoreObject>(
        left: ValueContainer<O>.Optional<V>, right: ValueContainer<O2>.Optional<V>
    ) -> Bool {
        left.value == right.value
    }

    public static func .== <O2: CoreStoreObject>(
        left: ValueContainer<O>.Optional<V>, right: ValueContainer<O2>.Required<V>
    ) -> Bool {
        left.value == right.value
    }
}

extension TransformableContainer.Required {
    public static func .= (left: TransformableContainer<O>.Required<V>, right: V) {
        left.value = right
    }

    public static func .== (left: TransformableContainer<O>.Required<V>, right: V?) -> Bool {
        left.value == right
    }
}

extension TransformableContainer.Optional {
    public static func .= (left: TransformableContainer<O>.Optional<V>, right: V?) {
        left.value = right
    }

    public static func .== (left: TransformableContainer<O>.Optional<V>, right: V?) -> Bool {
        left.value == right
    }
}

extension RelationshipContainer.ToOne {
    public static func .= (left: RelationshipContainer<O>.ToOne<D>, right: D?) {
        left.value = right
    }

    public static func .= <O2: CoreStoreObject>(
        left: RelationshipContainer<O>.ToOne<D>, right: RelationshipContainer<O2>.ToOne<D>
    ) {
        left.value = right.value
    }

    public static func .== (left: RelationshipContainer<O>.ToOne<D>, right: D?) -> Bool {
        left.value == right
    }

    public static func .== <O2: CoreStoreObject>(
        left: RelationshipContainer<O>.ToOne<D>, right: RelationshipContainer<O2>.ToOne<D>
    ) -> Bool {
        left.value == right.value
    }
}

extension RelationshipContainer.ToManyOrdered {
    public static func .= <S: Sequence>(
        left: RelationshipContainer<O>.ToManyOrdered<D>, right: S
    ) where S.Element == D {
        left.value = Array(right)
    }

    public static func .== <C: Collection>(
        left: RelationshipContainer<O>.ToManyOrdered<D>, right: C
    ) -> Bool where C.Element == D {
        left.value.elementsEqual(right)
    }
}

extension RelationshipContainer.ToManyUnordered {
    public static func .= <S: Sequence>(
        left: RelationshipContainer<O>.ToManyUnordered<D>, right: S
    ) where S.Element == D {
        left.value = Set(right)
    }

    public static func .== <S: Sequence>(
        left: RelationshipContainer<O>.ToManyUnordered<D>, right: S
    ) -> Bool where S.Element == D {
        left.value == Set(right)
    }
}

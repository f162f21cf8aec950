infix operator .= : AssignmentPrecedence
infix operator .== : ComparisonPrecedence

// `dog.name .= "Rex"` assigns a value, and `dog.name .== "Rex"` compares with one: a property is an
// object, so that `=` and `==` are about the property itself.

extension ValueContainer.Required {
    /// Assigns a value; in a transaction only.
    public static func .= (left: ValueContainer<O>.Required<V>, right: V) { left.value = right }

    /// Assigns the value of another property; in a transaction only.
    public static func .= <O2: CoreStoreObject>(
        left: ValueContainer<O>.Required<V>, right: ValueContainer<O2>.Required<V>
    ) {
        left.value = right.value
    }

    /// Whether the property has this value.
    public static func .== (left: ValueContainer<O>.Required<V>, right: V?) -> Bool {
        left.value == right
    }

    /// Whether the property has this value.
    public static func .== (left: V?, right: ValueContainer<O>.Required<V>) -> Bool {
        left == right.value
    }

    /// Whether both properties have the same value.
    public static func .== <O2: CoreStoreObject>(
        left: ValueContainer<O>.Required<V>, right: ValueContainer<O2>.Required<V>
    ) -> Bool {
        left.value == right.value
    }

    /// Whether both properties have the same value.
    public static func .== <O2: CoreStoreObject>(
        left: ValueContainer<O>.Required<V>, right: ValueContainer<O2>.Optional<V>
    ) -> Bool {
        left.value == right.value
    }
}

extension ValueContainer.Optional {
    /// Assigns a value; in a transaction only.
    public static func .= (left: ValueContainer<O>.Optional<V>, right: V?) { left.value = right }

    /// Assigns the value of another property; in a transaction only.
    public static func .= <O2: CoreStoreObject>(
        left: ValueContainer<O>.Optional<V>, right: ValueContainer<O2>.Optional<V>
    ) {
        left.value = right.value
    }

    /// Assigns the value of another property; in a transaction only.
    public static func .= <O2: CoreStoreObject>(
        left: ValueContainer<O>.Optional<V>, right: ValueContainer<O2>.Required<V>
    ) {
        left.value = right.value
    }

    /// Whether the property has this value.
    public static func .== (left: ValueContainer<O>.Optional<V>, right: V?) -> Bool {
        left.value == right
    }

    /// Whether the property has this value.
    public static func .== (left: V?, right: ValueContainer<O>.Optional<V>) -> Bool {
        left == right.value
    }

    /// Whether both properties have the same value.
    public static func .== <O2: CoreStoreObject>(
        left: ValueContainer<O>.Optional<V>, right: ValueContainer<O2>.Optional<V>
    ) -> Bool {
        left.value == right.value
    }

    /// Whether both properties have the same value.
    public static func .== <O2: CoreStoreObject>(
        left: ValueContainer<O>.Optional<V>, right: ValueContainer<O2>.Required<V>
    ) -> Bool {
        left.value == right.value
    }
}

extension TransformableContainer.Required {
    /// Assigns a value; in a transaction only.
    public static func .= (left: TransformableContainer<O>.Required<V>, right: V) {
        left.value = right
    }

    /// Assigns the value of another property; in a transaction only.
    public static func .= <O2: CoreStoreObject>(
        left: TransformableContainer<O>.Required<V>, right: TransformableContainer<O2>.Required<V>
    ) {
        left.value = right.value
    }

    /// Whether the property has this value.
    public static func .== (left: TransformableContainer<O>.Required<V>, right: V?) -> Bool {
        left.value == right
    }
}

extension TransformableContainer.Optional {
    /// Assigns a value; in a transaction only.
    public static func .= (left: TransformableContainer<O>.Optional<V>, right: V?) {
        left.value = right
    }

    /// Assigns the value of another property; in a transaction only.
    public static func .= <O2: CoreStoreObject>(
        left: TransformableContainer<O>.Optional<V>, right: TransformableContainer<O2>.Optional<V>
    ) {
        left.value = right.value
    }

    /// Assigns the value of another property; in a transaction only.
    public static func .= <O2: CoreStoreObject>(
        left: TransformableContainer<O>.Optional<V>, right: TransformableContainer<O2>.Required<V>
    ) {
        left.value = right.value
    }

    /// Whether the property has this value.
    public static func .== (left: TransformableContainer<O>.Optional<V>, right: V?) -> Bool {
        left.value == right
    }
}

extension RelationshipContainer.ToOne {
    /// Makes the relationship lead to an object, or to none; in a transaction only.
    public static func .= (left: RelationshipContainer<O>.ToOne<D>, right: D?) {
        left.value = right
    }

    /// Assigns the object of another property; in a transaction only.
    public static func .= <O2: CoreStoreObject>(
        left: RelationshipContainer<O>.ToOne<D>, right: RelationshipContainer<O2>.ToOne<D>
    ) {
        left.value = right.value
    }

    /// Whether the property has this value.
    public static func .== (left: RelationshipContainer<O>.ToOne<D>, right: D?) -> Bool {
        left.value == right
    }

    /// Whether the property has this value.
    public static func .== (left: D?, right: RelationshipContainer<O>.ToOne<D>) -> Bool {
        left == right.value
    }

    /// Whether both properties have the same value.
    public static func .== <O2: CoreStoreObject>(
        left: RelationshipContainer<O>.ToOne<D>, right: RelationshipContainer<O2>.ToOne<D>
    ) -> Bool {
        left.value == right.value
    }
}

extension RelationshipContainer.ToManyOrdered {
    /// Makes the relationship lead to these objects; in a transaction only.
    public static func .= <S: Sequence>(
        left: RelationshipContainer<O>.ToManyOrdered<D>, right: S
    ) where S.Element == D {
        left.value = Array(right)
    }

    /// Whether the relationship leads to these objects in this order.
    public static func .== <C: Collection>(
        left: RelationshipContainer<O>.ToManyOrdered<D>, right: C
    ) -> Bool where C.Element == D {
        left.value.elementsEqual(right)
    }

    /// Whether the relationship leads to these objects in this order.
    public static func .== <C: Collection>(
        left: C, right: RelationshipContainer<O>.ToManyOrdered<D>
    ) -> Bool where C.Element == D {
        left.elementsEqual(right.value)
    }

    /// Whether both relationships lead to the same objects in the same order.
    public static func .== <O2: CoreStoreObject>(
        left: RelationshipContainer<O>.ToManyOrdered<D>,
        right: RelationshipContainer<O2>.ToManyOrdered<D>
    ) -> Bool {
        left.value == right.value
    }
}

extension RelationshipContainer.ToManyUnordered {
    /// Makes the relationship lead to these objects; in a transaction only.
    public static func .= <S: Sequence>(
        left: RelationshipContainer<O>.ToManyUnordered<D>, right: S
    ) where S.Element == D {
        left.value = Set(right)
    }

    /// Whether the relationship leads to these objects and no others.
    public static func .== <S: Sequence>(
        left: RelationshipContainer<O>.ToManyUnordered<D>, right: S
    ) -> Bool where S.Element == D {
        left.value == Set(right)
    }

    /// Whether the relationship leads to these objects and no others.
    public static func .== (
        left: Set<D>, right: RelationshipContainer<O>.ToManyUnordered<D>
    ) -> Bool {
        left == right.value
    }
}

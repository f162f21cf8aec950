// The guide's section on SwiftUI, with `$` before the names of properties as `@Field` has them.

import ObjectGraph
import SwiftUI

struct PeopleReader: View {
    let people: ListPublisher<Person>

    var body: some View {
        List {
            ListReader(self.people) { listSnapshot in
                ForEach(objectIn: listSnapshot) { person in
                    Text(person.$lastName ?? "")
                }
            }
        }
        .animation(.default)
    }
}

struct PeopleCount: View {
    let people: ListPublisher<Person>

    var body: some View {
        ListReader(self.people, keyPath: \.count) { count in
            Text("Number of members: \(count)")
        }
    }
}

struct PersonReader: View {
    let person: ObjectPublisher<Person>

    var body: some View {
        ObjectReader(self.person) { objectSnapshot in
            Text(objectSnapshot.$lastName)
        }
        .animation(.default)
    }
}

struct PersonNameReader: View {
    let person: ObjectPublisher<Person>

    var body: some View {
        ObjectReader(self.person, keyPath: \.$fullName) { fullName in
            Text("Name: \(fullName)")
        }
    }
}

struct PersonOrPlaceholder: View {
    let person: ObjectPublisher<Person>?

    var body: some View {
        ObjectReader(
            self.person,
            content: { objectSnapshot in
                Text(objectSnapshot.$lastName)
            },
            placeholder: { Text("Record not found") }
        )
        ObjectReader(
            self.person,
            keyPath: \.$fullName,
            content: { fullName in
                Text(fullName)
            },
            placeholder: { Text("Record not found") }
        )
    }
}

struct PeopleOfPublisher: View {
    @ListState
    var people: ListSnapshot<Person>

    init(listPublisher: ListPublisher<Person>) {
        self._people = .init(listPublisher)
    }

    var body: some View {
        List {
            ForEach(objectIn: self.people) { person in
                ObjectReader(person) { objectSnapshot in
                    Text(objectSnapshot.$lastName)
                }
            }
        }
        .animation(.default)
    }
}

struct PeopleBySection: View {
    @ListState(
        From<Person>()
            .sectionBy(\.$age)
            .where(\.$isMember == true)
            .orderBy(.ascending(\.$age), .ascending(\.$lastName))
    )
    var people: ListSnapshot<Person>

    var body: some View {
        List {
            ForEach(sectionIn: self.people) { section in
                Section(header: Text(section.sectionID)) {
                    ForEach(objectIn: section) { person in
                        Text(person.$lastName ?? "")
                    }
                }
            }
        }
        .animation(.default)
    }
}

/// The other ways in which a list is asked for.
struct PeopleByClauses: View {
    @ListState(
        From<Person>(), Where<Person>(\.$isMember == true),
        OrderBy<Person>(.ascending(\.$lastName)))
    var members: ListSnapshot<Person>
    @ListState var others: ListSnapshot<Person>
    @ListState var byAge: ListSnapshot<Person>
    @ListState var byOwnChain: ListSnapshot<Person>

    init(dataStack: DataStack, age: Int) {
        let order = OrderBy<Person>(.ascending(\.$age), .ascending(\.$lastName))
        _others = .init(
            From<Person>(), [Where<Person>(\.$isMember == false), order], in: dataStack)
        _byAge = .init(From<Person>(), SectionBy<Person>(\.$age), order, in: dataStack)
        _byOwnChain = ListState(
            From<Person>().where(\.$age > age).orderBy(.ascending(\.$lastName)), in: dataStack)
    }

    var body: some View {
        ListReader($members) { snapshot in
            ForEach(objectIn: Array(snapshot)) { person in
                Text(person.$lastName ?? "")
            }
        }
        ForEach(others.compactMap { $0.snapshot }) { person in
            Text(person.$lastName)
        }
        Text("\(byAge.numberOfSections) \(byOwnChain.numberOfItems)")
    }
}

struct PersonOfPublisher: View {
    @ObjectState
    var person: ObjectSnapshot<Person>?

    init(objectPublisher: ObjectPublisher<Person>) {
        self._person = .init(objectPublisher)
    }

    var body: some View {
        HStack {
            if let person = self.person {
                AsyncImage(url: person.$avatarURL)
                Text(person.$fullName)
            } else {
                Text("Record removed")
            }
        }
    }
}

/// The stack comes from a view above.
struct Birthdays: View {
    @Environment(\.dataStack) var dataStack

    var body: some View {
        PeopleByClauses(dataStack: dataStack, age: 30)
            .environment(\.dataStack, CoreStoreDefaults.dataStack)
    }
}

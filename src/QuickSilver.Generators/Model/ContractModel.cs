namespace QuickSilver.Generators.Model;

// All that is written about a contract type, without a symbol of the compilation it came from.
// TypeName is fully qualified ("global::Demo.Departure"); SchemaName is what the topic's contract calls it; Word is the short
// name in the schemas of those that hold it. Arguments and Initializers say which members the constructor and the
// object initializer take, by position in Members.
internal sealed record ContractModel(
    string TypeName,
    string SchemaName,
    string Word,
    bool IsReference,
    EquatableArray<MemberModel> Members,
    EquatableArray<int> Arguments,
    EquatableArray<int> Initializers)
{
    // Whether the members are the subtypes of the type, of which a value has exactly one.
    public bool HasSubtypes { get; init; }
}

// A contract of this assembly, with those of other assemblies that it holds: their codecs are written here again, because
// what another assembly generated is internal to it.
internal sealed record ContractClosure(ContractModel Contract, EquatableArray<ContractModel> Foreign);

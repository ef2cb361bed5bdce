namespace QuickSilver.Generators.Model;

internal enum MemberShape
{
    Single,
    List,
    Array,
    ReadOnlyList,
    ImmutableArray,
    ReadOnlyCollection,
    Set,
    ReadOnlySet,
    Map,
    ReadOnlyMap,
}

// One field. Optional: null is absence, so that whatever is not null is written, defaults too. AlwaysWritten: marked
// IsRequired, which protobuf-net takes to mean that defaults are written. Value is a collection's element or a map's value.
internal sealed record MemberModel(
    int Number,
    string Identifier,
    string DisplayName,
    string WireName,
    MemberShape Shape,
    bool Optional,
    bool AlwaysWritten,
    ValueModel Value,
    ValueModel? Key)
{
    public bool IsMap => Shape is MemberShape.Map or MemberShape.ReadOnlyMap;

    public bool IsSet => Shape is MemberShape.Set or MemberShape.ReadOnlySet;

    public string TypeWord => Shape switch
    {
        MemberShape.Single => Value.Word,
        MemberShape.Map or MemberShape.ReadOnlyMap => $"map<{Key!.Word}, {Value.Word}>",
        _ => $"repeated {Value.Word}",
    };
}

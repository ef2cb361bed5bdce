using QuickSilver.Membership.Contracts;
using QuickSilver.Membership.Protocol.Replies;
using QuickSilver.Tool.Sessions;

namespace QuickSilver.Tool.Catalog;

// What the membership service knows of one topic: the versions of its contract.
internal sealed class TopicContracts(string name, IReadOnlyList<ListedTopicMessage> versions)
{
    public string Name { get; } = name;

    public IReadOnlyList<ListedTopicMessage> Versions { get; } = versions;

    /// <summary>
    /// Of the versions with a type, the one with the most fields: it can show the most. Of those with as many, the one with the most names
    /// of enum values. Null if there is none.
    /// </summary>
    public ContractDescription? Typed { get; } = versions
        .Select(static version => version.Contract)
        .Where(static contract => contract.Kind != ContractDescription.AnyKind)
        .MaxBy(static contract => (
            contract.Fields.Length + contract.Nested.Sum(static nested => nested.Fields.Length),
            contract.Enums.Sum(static one => one.Values.Length),
            contract.Fields.Count(static field => field.IsNullable is not null)));

    public bool IsOpen => Versions.Count > 0;

    /// <summary>The options with which an endpoint agrees with those that are open; the defaults if there are none.</summary>
    public TopicOptions Options => OptionsOr(Guarantee.Reliable);

    /// <summary>The options with which an endpoint agrees with those that are open; this guarantee if there are none.</summary>
    public TopicOptions OptionsOr(Guarantee assumed) => !IsOpen
        ? new TopicOptions { Guarantee = assumed }
        : Enum.TryParse(Versions[0].Contract.Guarantee, out Guarantee guarantee)
            && Versions[0].Contract is { IsPinned: false, Parameters.IsEmpty: true }
            ? new TopicOptions { Guarantee = guarantee }
            : throw new ToolException(
                ExitCode.Failed, $"{Name}: the topic has the guarantee {Versions[0].Contract.Guarantee}, which qsm does not know.");
}

using QuickSilver.Core.Diagnostics;
using QuickSilver.Membership.Contracts;
using QuickSilver.Membership.Protocol.Replies;
using QuickSilver.Serialization;
using QuickSilver.Tool.Sessions;

namespace QuickSilver.Tool.Catalog.Sources;

// The source text of one version of a topic's contract, which says which one it is of.
internal static class TopicSource
{
    public static string CSharpOf(TopicContracts contracts, int? version, string? space)
    {
        AnsweredTopics.CheckSource(contracts);
        _ = contracts.Options;
        var contract = Choose(contracts, version);
        return VersionNote(contracts, contract) + CSharpStub.Of(contracts.Name, contract, space);
    }

    public static string ProtoOf(TopicContracts contracts, int? version, string? space)
    {
        var contract = Choose(contracts, version);
        return contract.Kind == PayloadSchema.MessageKind
            ? VersionNote(contracts, contract) + ProtoFile.Of(contracts.Name, contract, space)
            : throw new ToolException(
                ExitCode.Failed, $"{contracts.Name}: the payload is {SafeText.Of(contract.Kind)}, and not a protobuf message.");
    }

    private static ContractDescription Choose(TopicContracts contracts, int? version)
    {
        if (version is not { } number)
        {
            return contracts.Typed ?? throw new ToolException(ExitCode.Failed, NoType(contracts));
        }

        if (number > contracts.Versions.Count)
        {
            string all = Counted.Of(contracts.Versions.Count, "version");
            throw new ToolException(ExitCode.Failed, $"--contract {number}: the contract of {contracts.Name} has {all}.");
        }

        return contracts.Versions[number - 1].Contract is var contract && contract.Kind != ContractDescription.AnyKind
            ? contract
            : throw new ToolException(ExitCode.Failed, $"--contract {number}: it takes any payload, so it has no type. Choose another.");
    }

    // A comment in both languages. Of the only version, there is nothing to say.
    private static string VersionNote(TopicContracts contracts, ContractDescription contract)
    {
        int at = contracts.Versions.ToList().FindIndex(version => ReferenceEquals(version.Contract, contract));
        return contracts.Versions.Count == 1
            ? ""
            : $"// Version {at + 1} of {contracts.Versions.Count} of the contract, {NodesOf(contracts.Versions[at])}. "
                + "The option --contract of qsm topic describe chooses another one.\n";
    }

    private static string NoType(TopicContracts contracts) =>
        $"{contracts.Name}: only subscribers that take any payload have the topic open, so its type is not known.";

    /// <summary>How many nodes have the topic open with the version.</summary>
    public static string NodesOf(ListedTopicMessage version) => version.Nodes == 0 ? "closed by all" : Counted.Of(version.Nodes, "node");
}

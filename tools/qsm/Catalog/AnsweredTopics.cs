using QuickSilver.Membership.Contracts;
using QuickSilver.Tool.Sessions;

namespace QuickSilver.Tool.Catalog;

// Topics whose subscribers have to answer: states, requests, and the inboxes to which answers come. This tool answers nothing, so it
// neither subscribes to them nor publishes: the other nodes would wait for it.
internal static class AnsweredTopics
{
    private const string Open = "Open it in a program, with ";

    /// <exception cref="ToolException">The topic is a state, carries requests, or is an inbox.</exception>
    public static void CheckSubscribe(TopicContracts contracts) => Check(
        contracts,
        "qsm cannot subscribe: nodes that join the state would wait for its copy.",
        "qsm cannot subscribe: it would get requests to answer.");

    /// <exception cref="ToolException">The topic is a state, carries requests, or is an inbox.</exception>
    public static void CheckPublish(TopicContracts contracts) => Check(
        contracts, "qsm cannot publish: only a node with a copy can change it.", "qsm cannot publish: it has no place for the answers.");

    /// <exception cref="ToolException">As C# of a topic's endpoints, the contract has no meaning.</exception>
    public static void CheckSource(TopicContracts contracts) => Check(
        contracts, "No source text is printed for states.", "No source text is printed for requests.");

    private static void Check(TopicContracts contracts, string ofState, string ofRequests)
    {
        if (InboxName.IsInbox(contracts.Name))
        {
            throw new ToolException(
                ExitCode.Failed,
                $"{contracts.Name}: this is the inbox of a node, where answers to its requests come. It is for that node alone.");
        }

        string? problem = contracts.Typed?.Kind switch
        {
            ContractDescription.StateKind => $"this is a state, {TypeOf(contracts)}. {ofState} {Open}OpenStateAsync.",
            ContractDescription.RequestKind =>
                $"this topic carries requests, {TypeOf(contracts)}. {ofRequests} {Open}OpenRequesterAsync or OpenResponderAsync.",
            _ => null,
        };
        if (problem is not null)
        {
            throw new ToolException(
                ExitCode.Failed,
                $"{contracts.Name}: {problem} 'qsm topic describe {contracts.Name}' shows its types and the nodes that have it open.");
        }
    }

    private static string TypeOf(TopicContracts contracts) => SafeText.Of(contracts.Typed!.TypeName);
}

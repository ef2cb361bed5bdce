using System.Collections.Immutable;
using QuickSilver.Membership.Client;
using QuickSilver.Membership.Contracts;
using QuickSilver.Membership.Views;

namespace QuickSilver.Multicast.Tests.Infrastructure;

// Keeps what one node reports to the membership service.
internal sealed class RecordingMembership(NodeKey self) : IMembership
{
    public NodeKey Self { get; } = self;

    public bool IsReachable => true;

    public NodeRoster Roster { get; } = new SharedViews().NoNodes;

    public List<NodeKey> Suspects { get; } = [];

    public TopicFollows Follows { get; } = new(static _ => { });

    public void ReportSuspect(NodeKey node, string reason) => Suspects.Add(node);

    public void Open(TopicRequest request, Action<TopicOutcome> completed) => throw new NotSupportedException();

    public void Close(ulong topicId) => throw new NotSupportedException();

    public void Confirm(long configuration, ImmutableArray<OpenView> open) => throw new NotSupportedException();

    public void GiveUp(string reason) => throw new NotSupportedException();

    public void Leave(Action completed) => throw new NotSupportedException();
}

using System.Runtime.CompilerServices;

namespace QuickSilver.Endpoints.Changes;

// One reader of the changes of a topic's subscribers. A node that came and left before the reader looked is not reported, so what waits is
// limited by the nodes that the reader knows and those that subscribe now.
internal sealed class SubscriberWatch(IEndpointNode node)
{
    private readonly ChangeQueue<NodeId, SubscriberChange> _changes = new(node.Completions);

    /// <summary>Core thread: reports the changes from one set to the next.</summary>
    /// <param name="before">The set that was reported last.</param>
    /// <param name="after">The set now.</param>
    /// <param name="came">Why nodes are in it.</param>
    /// <param name="whyLeft">Why a node is not in it any more.</param>
    public void Notify(
        SubscriberSet before, SubscriberSet after, SubscriberChangeReason came, Func<NodeId, SubscriberChangeReason> whyLeft)
    {
        foreach (var one in before.Nodes)
        {
            if (!after.Contains(one) && !_changes.TryWithdraw(one))
            {
                Put(one, isJoined: false, whyLeft(one));
            }
        }

        foreach (var one in after.Nodes)
        {
            // A node that left and is back before the reader looked has not changed for the reader.
            if (!before.Contains(one) && !_changes.TryWithdraw(one))
            {
                Put(one, isJoined: true, came);
            }
        }
    }

    private void Put(NodeId one, bool isJoined, SubscriberChangeReason reason) =>
        _changes.Put(one, new SubscriberChange(one, isJoined, reason) { NodeName = node.Names.Named(one).Name });

    /// <summary>From any thread: the endpoint has ended.</summary>
    public void End(Exception? error) => _changes.End(error);

    public async IAsyncEnumerable<SubscriberChange> ReadAsync([EnumeratorCancellation] CancellationToken cancellationToken)
    {
        while (true)
        {
            cancellationToken.ThrowIfCancellationRequested();
            if (_changes.TryTake(out var change, out var wait))
            {
                yield return change;
            }
            else if (wait is null)
            {
                yield break;
            }
            else
            {
                await wait.WaitAsync(cancellationToken).ConfigureAwait(node.ResumesInContext);
            }
        }
    }
}

using QuickSilver.Core.Environment;
using QuickSilver.Multicast.Nodes;
using QuickSilver.Multicast.Sending;
using QuickSilver.Multicast.Sending.Acknowledgement;

namespace QuickSilver.Multicast;

// The streams of this node until they are settled, and what is confirmed to the membership service of that.
//
// Invariant: a superseded stream stays open until it is settled, and only then is the configuration confirmed.
internal sealed class SettlementReport(NodeContext context, AppliedConfiguration applied) : IConfirmingNode
{
    // Null until something delays a confirmation.
    private Confirmation? _confirmation;
    private long _confirmed;

    INodeEnvironment IConfirmingNode.Environment => context.Environment;

    public SentStreams Sent => SentIfAny ??= new SentStreams();

    /// <summary>Null until something is sent.</summary>
    public SentStreams? SentIfAny { get; private set; }

    public void ConfirmIfSettled()
    {
        SentIfAny?.CloseSettled();
        if (_confirmed == applied.Number && _confirmation is null or { IsNothingNamed: true })
        {
            return;
        }

        if (SentIfAny is not null)
        {
            Confirmation.Hold(SentIfAny, applied.Number, this, ref _confirmation);
        }

        long confirmed = _confirmation?.Weigh(applied.Number) ?? applied.Number;
        if (confirmed > _confirmed || _confirmation is { IsNews: true })
        {
            _confirmed = Math.Max(_confirmed, confirmed);
            context.Membership.Confirm(_confirmed, _confirmation?.Named ?? []);
        }
    }

    public void Close() => _confirmation?.Close();
}

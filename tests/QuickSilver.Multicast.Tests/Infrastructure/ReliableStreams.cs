using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Receiving;
using QuickSilver.Multicast.Stability;
using QuickSilver.Multicast.Stability.Tokens;

namespace QuickSilver.Multicast.Tests.Infrastructure;

// The reliable stream of number 0, which most tests mean by a sender's stream.
internal static class ReliableStreams
{
    public static StreamKey Key(this NodeKey sender) => new(sender, StreamClass.Reliable);

    public static RecoveryRecord Add(this Token token, NodeKey sender) => token.Add(sender.Key());

    public static RecoveryRecord? Find(this Token token, NodeKey sender) => token.Find(sender.Key());

    public static InboundStream? Find(this RegionReceiver region, NodeKey sender) => region.Find(sender.Key());

    public static StreamSettlement SettlementOf(this RingRecords records, NodeKey sender) => records.SettlementOf(sender.Key());
}

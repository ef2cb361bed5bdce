using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Ordering.Credit;

namespace QuickSilver.Multicast.Ordering;

// The numbering of one incarnation's messages in one topic: the next number, and the first number under each configuration. It outlives the
// sender that uses it. An application that closes a topic and opens it again continues the numbering, because subscribers remember the last
// number and would treat the first numbers as duplicates.
internal sealed class TopicNumbers : StartTable
{
    public long Next { get; set; } = 1;

    /// <summary>The last number for which all members have room.</summary>
    public long CreditThrough { get; set; } = CreditPacket.Unlimited;
}

using QuickSilver.Multicast.Channels;

namespace QuickSilver.Multicast.Ordering;

// A life's numbering of its messages in one topic: the next number, and with which it went on under each configuration. It
// outlives the sender that uses it: who closes a topic and opens it again goes on where it was, since subscribers took note of
// the last number and would take the first ones for repeats.
internal sealed class TopicNumbers : StartTable
{
    public long Next { get; set; } = 1;

    /// <summary>The last number for which all members have room.</summary>
    public long CreditThrough { get; set; } = CreditPacket.Unlimited;
}

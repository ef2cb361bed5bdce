using QuickSilver.Core.Wire;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Sending.Packing;

namespace QuickSilver.Multicast.Sending.Acknowledgement;

// Finds the messages in the packets of one stream that not all members are known to hold (I25).
//
// The header of a message is not kept for longer than its packet, but the message is held only with its last packet. So the last message of
// which the first packets were released and the others not is remembered.
internal struct UnacknowledgedPackets(RetentionBuffer packets)
{
    private CutMessage _cut;

    /// <summary>All packets up to this one are held, and are to be released.</summary>
    public void NoteCut(long stable)
    {
        if (stable >= packets.Last || packets[stable + 1].Lease is null)
        {
            return;
        }

        var header = new PacketHeader(packets.PacketAt(stable + 1));
        long begin = stable + 1 - header.HeadDistance;
        if (header.HeadBytes == 0 || !packets.Contains(begin) || packets[begin].Lease is null)
        {
            return;
        }

        for (var messages = new PacketParser(packets.PacketAt(begin)); messages.MoveNext();)
        {
            _cut = new CutMessage(messages.Topic, messages.Number);
        }
    }

    /// <summary>Adds the messages in the packets that follow those that are acknowledged.</summary>
    public readonly void Read(UnacknowledgedMessages messages, long acknowledged, string waitsFor)
    {
        long first = acknowledged + 1;
        if (_cut.Number > 0 && first <= packets.Last && packets[first].Lease is not null
            && new PacketHeader(packets.PacketAt(first)).HeadBytes > 0)
        {
            messages.Add(_cut, waitsFor);
        }

        for (long number = first; number <= packets.Last; number++)
        {
            // One without memory is held by all, although earlier ones are not.
            if (packets[number].Lease is not null)
            {
                messages.Add(packets.PacketAt(number), waitsFor);
            }
        }
    }
}

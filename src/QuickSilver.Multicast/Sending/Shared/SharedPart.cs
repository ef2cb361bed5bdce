using QuickSilver.Core.Buffers;
using QuickSilver.Multicast.Nodes;
using QuickSilver.Multicast.Sending.Packing;

namespace QuickSilver.Multicast.Sending.Shared;

// The part of one stream in runs that are sent once for several streams. Each stream gives the packets numbers of its own and keeps them,
// as if it had sent them by itself. So order, windows, acknowledgements and repairs know nothing of it.
//
// Invariant: a packet counts as sent only if all packets before it in the stream were sent, so a shared run is sent for a stream only if
// nothing waits there. Otherwise the run gets its numbers all the same, and waits behind the packets before it, to be sent to this region
// alone.
internal sealed class SharedPart(
    RegionSender stream, NodeContext context, RetentionBuffer packets, Packer packer, SendWindow window, RunTransmitter transmitter)
{
    /// <summary>The stream.</summary>
    public RegionSender Stream => stream;

    /// <summary>How many packets take the place of one shared packet.</summary>
    public int Sends => stream.View.Group is null ? stream.Live.Count : 1;

    /// <summary>The number of the next packet.</summary>
    public long Next => stream.Last + 1;

    /// <summary>Sends what is packed, and returns whether so many packets could be sent after it at once.</summary>
    public bool IsReadyFor(int count)
    {
        if (window.Sent < stream.Last)
        {
            stream.Flush();
        }

        return window.Sent == stream.Last && transmitter.IsFree && window.RoomAt(context.Environment.Now) >= count;
    }

    /// <summary>Keeps a packet under the next number of this stream.</summary>
    public void Take(Lease block, int offset, int length, int keepers)
    {
        packer.Flush();
        packets.Append(block, offset, length, keepers);
    }

    /// <summary>The next so many packets were sent, with those of other streams.</summary>
    public void OnSent(int count)
    {
        if (count > 0)
        {
            window.OnSent(context.Environment.Now, count);
            ((ITransmittedStream)stream).OnSent(count);
        }
    }

    /// <summary>The stream sends to its region alone what was not sent.</summary>
    public void SendRest()
    {
        if (window.Sent < stream.Last)
        {
            stream.FlushSoon();
        }
    }
}

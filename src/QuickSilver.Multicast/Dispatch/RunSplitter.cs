using System.Runtime.CompilerServices;
using QuickSilver.Core.Sealing;
using QuickSilver.Core.Transport;
using QuickSilver.Core.Wire;
using QuickSilver.Multicast.Sealing;

namespace QuickSilver.Multicast.Dispatch;

// Splits received runs into packets by the length in each header, refuses damaged packets, and passes the others to the dispatcher. The
// ports of a node are open before the node has joined: until Begin is called, everything that arrives is dropped.
//
// Sealed packets are opened here, each just before it is dispatched: above, nothing knows that they were sealed.
internal sealed class RunSplitter(ulong cluster, KeyRing? keys = null) : IDatagramReceiver
{
    private PacketDispatcher? _dispatcher;

    public void Begin(PacketDispatcher dispatcher) => _dispatcher = dispatcher;

    bool IDatagramReceiver.IsControl(ReadOnlySpan<byte> firstBytes) =>
        firstBytes.Length > PacketHeader.KindOffset
        && PacketKinds.ClassOf((PacketKind)firstBytes[PacketHeader.KindOffset]) == PacketClass.Control;

    // The low byte of the flags.
    bool IDatagramReceiver.IsRepair(ReadOnlySpan<byte> firstBytes) => firstBytes.Length > PacketHeader.FlagsOffset
        && ((firstBytes[PacketHeader.FlagsOffset] & (byte)PacketFlags.Repair) != 0
            || PacketKinds.ClassOf((PacketKind)firstBytes[PacketHeader.KindOffset]) == PacketClass.Repair);

    void IDatagramReceiver.OnRun(in ReceivedRun run)
    {
        if (_dispatcher is not { } dispatcher)
        {
            return;
        }

        // Work that is the same for all packets of a run is done once per run: a look at the clock or at the ring costs as much as the
        // rest of the path of a packet.
        dispatcher.BeginRun(run.Port);
        int packets = 0;
        int bytes = 0;
        try
        {
            if (keys is null)
            {
                Split(run, dispatcher, ref packets, ref bytes);
            }
            else
            {
                SplitSealed(run, dispatcher, keys, ref packets, ref bytes);
            }
        }
        finally
        {
            dispatcher.Counters.PacketsReceived += packets;
            dispatcher.Counters.BytesReceived += bytes;
        }
    }

    void IDatagramReceiver.OnBatchEnd() => _dispatcher?.OnBatchEnd();

    // Separate from the core thread's loop around it, because together they have more calls than the compiler inlines.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private void Split(in ReceivedRun run, PacketDispatcher dispatcher, ref int packets, ref int bytes)
    {
        var lease = run.Lease;
        var all = lease.Span[..(run.Offset + run.Length)];
        int offset = run.Offset;
        int segment = 0;
        int ahead = 1;
        while (offset < all.Length)
        {
            var rest = all[offset..];
            var refused = PacketHeader.Validate(rest, cluster);
            if (refused == DropReason.None)
            {
                if (ahead-- == 0)
                {
                    ahead = dispatcher.LookAhead(rest, segment) - 1;
                }

                var header = new PacketHeader(rest);
                int length = header.Length;
                refused = dispatcher.Dispatch(header, lease, offset);
                segment = segment == 0 ? length : segment;
                offset += length;
                packets++;
                bytes += length;
                if (refused != DropReason.None)
                {
                    dispatcher.Counters.Drop(refused);
                }

                continue;
            }

            // The length of a refused packet cannot be trusted. But the packets of a run are equally long, so the first valid one shows
            // where the next begins. If no valid one precedes, the rest of the buffer is dropped, and repaired.
            dispatcher.Counters.Drop(refused);
            if (segment == 0)
            {
                break;
            }

            offset += segment;
        }
    }

    // The packets of a run are opened one by one, so that each is in the processor's cache when it is read. The packet that follows is
    // not opened yet, so no look ahead goes further than into the packet itself.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private void SplitSealed(in ReceivedRun run, PacketDispatcher dispatcher, KeyRing keyRing, ref int packets, ref int bytes)
    {
        var lease = run.Lease;
        var all = lease.Span[..(run.Offset + run.Length)];
        int offset = run.Offset;
        int segment = 0;
        bool looksAhead = true;
        while (offset < all.Length)
        {
            var rest = all[offset..];
            var refused = SealedPacket.Validate(rest, cluster);
            if (refused != DropReason.None)
            {
                dispatcher.Counters.Drop(refused);
                if (segment == 0)
                {
                    break;
                }

                offset += segment;
                continue;
            }

            int length = new PacketHeader(rest).Length;
            var packet = rest[..length];
            refused = keyRing.Open(packet);
            var header = new PacketHeader(packet);
            if (refused == DropReason.None)
            {
                segment = segment == 0 ? length : segment;
                packets++;
                bytes += length;
                if (looksAhead)
                {
                    var opened = packet[..header.Length];
                    looksAhead = dispatcher.LookAhead(opened, opened.Length) != int.MaxValue;
                }

                refused = dispatcher.Dispatch(header, lease, offset);
            }
            else if (refused == DropReason.UnknownView)
            {
                refused = dispatcher.KeepSealed(header, lease, offset);
            }
            else if (segment > 0)
            {
                // The length of a packet that is not genuine is not trusted where there is another to go by.
                length = segment;
            }

            offset += length;
            if (refused != DropReason.None)
            {
                dispatcher.Counters.Drop(refused);
            }
        }
    }
}

using QuickSilver.Core.Buffers;
using QuickSilver.Multicast.Nodes;

namespace QuickSilver.Multicast.Receiving;

// What a stream does where the heap has no memory for what came. Its packets are kept in packet memory, and what they contain is passed on
// later, so nothing of a reliable stream is lost.
internal sealed partial class InboundStream
{
    /// <summary>The heap had no memory for a message of the next packet. No packet is read until HeapShortage calls.</summary>
    public bool IsStarved => _cursor.IsStarved;

    /// <summary>
    /// Whether this node holds packets that may contain the beginning of a topic, and for which there was no memory. Their sender assumes
    /// that it is known.
    /// </summary>
    public bool HidesBeginning => _cursor.HidesRefused;

    // HeapShortage maintains both.
    public bool IsInShortage { get; set; }
    public IHeapWaiter? NextInShortage { get; set; }

    /// <summary>The bytes of the packets that are kept, for others or because an earlier packet is missing.</summary>
    public long KeptBytes => _packets.HeldBytes;

    /// <summary>Called from time to time, so that memory that was needed once is not kept forever.</summary>
    public void Trim() => _packets.Trim(_window.Arrived);

    /// <summary>How many missing packets there is memory for: others would be requested in vain.</summary>
    public int MayAskFor => _memory.IsShort ? _memory.MayPlace(_packets.Placed) : int.MaxValue;

    /// <summary>Tries again what the heap had no memory for.</summary>
    public void OnHeapRetry()
    {
        _cursor.EndStarving();
        ReadOn();
        ReadBeginnings();
    }

    // Packets that are not read in this turn, because the stream is held up, may contain beginnings.
    private void ReadBeginnings()
    {
        if (IsStarved)
        {
            return;
        }

        long through = _cursor.TakeRefused();
        for (long n = _cursor.Parsed + 1; n <= through && !_phase.IsClosed; n++)
        {
            if (!_packets.Holds(n) || _packets[n].IsParsed)
            {
                continue;
            }

            ref var slot = ref _packets[n];
            Skim(n, slot.Lease!, slot.Offset, slot.Length);
            if (_cursor.IsAnyRefused)
            {
                // Another refusal would cost another collection.
                _cursor.Refuse(through);
                return;
            }
        }
    }

    private void Starve(long sequence)
    {
        _packets[sequence].IsParsed = false;
        _cursor.Starve(sequence);
    }

    // While packet memory is short, a packet is copied into a place. One behind a gap, or beyond the places of the stream, counts as not
    // received; that it was sent is recorded.
    private Lease? TryPlace(long sequence, Lease lease, int offset, int length)
    {
        var place = sequence == Contiguous + 1 ? _memory.TryPlace(lease.Span.Slice(offset, length), _packets.Placed) : null;
        if (place is null)
        {
            OnAnnounced(sequence);
        }

        return place;
    }

    private void NoteAnnounced(long highest)
    {
        try
        {
            NoteMissed(_window.OnAnnounced(highest, NowIf(highest > _window.Arrived), _context.Environment.CaughtUpAt));
        }
        catch (OutOfMemoryException)
        {
            // Announced again, because nothing of it was noted.
            _shortage.OnRefused();
        }
    }

    // The tables must grow before the packet counts as received. If they cannot, it is requested again.
    private bool TryPrepare(long sequence)
    {
        try
        {
            _window.Prepare(sequence);
            return true;
        }
        catch (OutOfMemoryException)
        {
            _shortage.OnRefused();
            return false;
        }
    }

    // Without memory for it, the numbers stay missing, and are decided about or given up again.
    private bool TryGiveUp(long first, long last)
    {
        try
        {
            NoteMissed(_window.Miss(Math.Min(last, Highest), _context.Environment.Now));
            return _window.TryGiveUp(first, last);
        }
        catch (OutOfMemoryException)
        {
            _shortage.OnRefused();
            return false;
        }
    }

    private bool TryBeginDeferred()
    {
        _delivering = true;
        try
        {
            return _assembler.BeginDeferred();
        }
        catch (OutOfMemoryException)
        {
            _shortage.Await(this);
            return false;
        }
        finally
        {
            _delivering = false;
        }
    }

    // False: the message is complete, and there is no memory to pass it on. The packet is read in its turn, and the message continues then.
    private bool TryContinue(long sequence, long distance)
    {
        _delivering = true;
        try
        {
            _assembler.Continue(sequence, distance);
            return true;
        }
        catch (OutOfMemoryException)
        {
            _cursor.Refuse(sequence);
            _shortage.Await(this);
            return false;
        }
        finally
        {
            _delivering = false;
        }
    }

    // Where there is no memory for a message, its packet counts as not read, and is read again from its beginning later. The layer above
    // knows by their numbers the messages that it has had. An unreliable stream does not wait: what is left of the packet is lost.
    private void Parse(long sequence, Lease lease, int offset, int length)
    {
        try
        {
            if (!ReadMessages(sequence, lease, offset, length))
            {
                Starve(sequence);
                _shortage.AwaitOlder(this);
            }
        }
        catch (OutOfMemoryException)
        {
            _delivering = false;
            if (IsReliable)
            {
                Starve(sequence);
                _shortage.Await(this);
            }
            else
            {
                _shortage.OnRefused();
            }
        }
    }
}

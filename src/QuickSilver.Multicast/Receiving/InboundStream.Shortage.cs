using QuickSilver.Core.Buffers;
using QuickSilver.Multicast.Nodes;

namespace QuickSilver.Multicast.Receiving;

// What a stream does where the heap has no memory for what came. Its packets are kept in packet memory, and what they contain is passed on
// later, so nothing of a reliable stream is lost.
internal sealed partial class InboundStream
{
    // The last packet that was read before its turn, or had to be, and for which there was no memory; 0: there is none.
    private long _refusedThrough;

    /// <summary>The heap had no memory for a message of the next packet. No packet is read until HeapShortage calls.</summary>
    public bool IsStarved { get; private set; }

    /// <summary>
    /// Whether this node holds packets that may contain the beginning of a topic, and for which there was no memory. Their sender assumes
    /// that it is known.
    /// </summary>
    public bool HidesBeginning => _refusedThrough > _parsed;

    // HeapShortage maintains both.
    public bool IsInShortage { get; set; }
    public IHeapWaiter? NextInShortage { get; set; }

    /// <summary>Tries again what the heap had no memory for.</summary>
    public void OnHeapRetry()
    {
        IsStarved = false;
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

        long through = _refusedThrough;
        _refusedThrough = 0;
        for (long n = _parsed + 1; n <= through && !_phase.IsClosed; n++)
        {
            if (!_packets.Holds(n) || _packets[n].IsParsed)
            {
                continue;
            }

            ref var slot = ref _packets[n];
            Skim(n, slot.Lease!, slot.Offset, slot.Length);
            if (_refusedThrough != 0)
            {
                // Another refusal would cost another collection.
                _refusedThrough = through;
                return;
            }
        }
    }

    private void Starve(long sequence)
    {
        _packets[sequence].IsParsed = false;
        IsStarved = true;
        _refusedThrough = Math.Max(_refusedThrough, sequence);
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
            _refusedThrough = Math.Max(_refusedThrough, sequence);
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

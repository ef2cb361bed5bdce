using QuickSilver.Core.Buffers;

namespace QuickSilver.Multicast.Receiving;

// What a stream does where the heap has no memory for what came. Its packets are kept in packet memory, and what they contain is passed on
// later, so nothing of a reliable stream is lost.
internal sealed partial class InboundStream
{
    /// <summary>The heap had no memory for a message of the next packet. No packet is read until HeapShortage calls.</summary>
    public bool IsStarved { get; private set; }

    // HeapShortage maintains both.
    public bool IsInShortage { get; set; }
    public InboundStream? NextInShortage { get; set; }

    /// <summary>Tries again what the heap had no memory for.</summary>
    public void OnHeapRetry()
    {
        IsStarved = false;
        ReadOn();
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
            ReadMessages(sequence, lease, offset, length);
        }
        catch (OutOfMemoryException)
        {
            _delivering = false;
            if (IsReliable)
            {
                _packets[sequence].IsParsed = false;
                IsStarved = true;
                _shortage.Await(this);
            }
            else
            {
                _shortage.OnRefused();
            }
        }
    }
}

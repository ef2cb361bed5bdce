using System.Numerics;
using Microsoft.Extensions.Logging;
using QuickSilver.Core.Buffers;
using QuickSilver.Core.Diagnostics;

namespace QuickSilver.Core.Loop;

// Takes runs from a port into leased memory and classifies them.
//
// A receive must offer room for the longest run, a whole block; most of what is received while the network is quiet is
// one small datagram. So a small run is copied out, close behind the one before it, and the whole block is offered again:
// what keeps a small packet pins a share of a block, not 64 KB. A long run goes up as it lies.
internal sealed class RunIntake(SlabPool pool, PriorityQueues queues, CoreCounters counters, ILogger logger)
{
    // Enough to spread the cost of a wake and a poll, few enough that a token on another port does not wait long and
    // that what was received is still in the cache when it is handled.
    private const int RunsPerTurn = 16;
    private const int LongestCopiedBytes = 16 * 1024;
    private const int Alignment = 64;

    private Lease? _whole;
    private Lease? _shared;
    private int _sharedUsed;

    /// <summary>Whether the last receive was put off because no memory was left.</summary>
    public bool IsStarved { get; private set; }

    /// <summary>Takes what waits at the port, up to a bound; the number of runs taken.</summary>
    public int Receive(PortSlot slot)
    {
        for (int taken = 0; taken < RunsPerTurn; taken++)
        {
            _whole ??= pool.TryRent();
            if (_whole is null)
            {
                OnStarved();
                return taken;
            }

            IsStarved = false;
            int length = slot.Port.TryReceive(_whole, 0, SlabPool.BlockBytes);
            if (length < 0)
            {
                return taken;
            }

            var workClass = Classify(slot, _whole.Span[..length]);
            queues.Enqueue(workClass, length <= LongestCopiedBytes ? CopyOut(slot, length) : HandOver(slot, length));
        }

        return RunsPerTurn;
    }

    /// <summary>Nothing waits at the sockets any more, so nothing is put off.</summary>
    public void EndStarvation() => IsStarved = false;

    /// <summary>Gives the memory back at the end.</summary>
    public void Release()
    {
        _whole?.Release();
        _shared?.Release();
        _whole = null;
        _shared = null;
    }

    private CoreWork HandOver(PortSlot slot, int length)
    {
        var lease = _whole!;
        _whole = null;
        return new CoreWork(slot, lease, 0, length);
    }

    private CoreWork CopyOut(PortSlot slot, int length)
    {
        if (!TryMakeRoom(length))
        {
            return HandOver(slot, length);
        }

        int offset = _sharedUsed;
        _sharedUsed += (length + Alignment - 1) & -Alignment;
        _whole!.Span[..length].CopyTo(_shared!.Span[offset..]);
        _shared.AddClaim();
        return new CoreWork(slot, _shared, offset, length);
    }

    private bool TryMakeRoom(int length)
    {
        if (_shared is { Claims: 1 })
        {
            // Nobody keeps anything of it: begin again, in memory that the cache still has.
            _sharedUsed = 0;
        }
        else if (_shared is not null && _sharedUsed + length > SlabPool.BlockBytes)
        {
            _shared.Release();
            _shared = null;
        }

        if (_shared is null)
        {
            _shared = pool.TryRent();
            _sharedUsed = 0;
        }

        return _shared is not null;
    }

    private WorkClass Classify(PortSlot slot, ReadOnlySpan<byte> firstBytes)
    {
        try
        {
            return slot.Receiver.IsControl(firstBytes) ? WorkClass.InboundControl : WorkClass.InboundData;
        }
        catch (Exception exception)
        {
            counters.HandlerExceptions++;
            CoreLog.HandlerThrew(logger, exception, slot);
            return WorkClass.InboundData;
        }
    }

    private void OnStarved()
    {
        counters.PoolExhaustions++;
        if (BitOperations.IsPow2(counters.PoolExhaustions))
        {
            // Said ever more rarely, as it happens a thousand times a second while it lasts.
            CoreLog.PacketMemoryExhausted(logger, pool.LeasedBlocks);
        }

        IsStarved = true;
    }
}

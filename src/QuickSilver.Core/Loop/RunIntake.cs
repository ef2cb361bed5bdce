using System.Numerics;
using Microsoft.Extensions.Logging;
using QuickSilver.Core.Buffers;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Core.Requests;

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

    private readonly RunPlacement _placement = new(pool);
    private Lease? _whole;

    /// <summary>Whether the last receive was put off because no memory was left.</summary>
    public bool IsStarved { get; private set; }

    /// <summary>Whether all that waited at the ports was taken since <see cref="Begin"/>.</summary>
    public bool IsAllTaken { get; private set; }

    /// <summary>A turn begins to take runs in.</summary>
    public void Begin() => IsAllTaken = true;

    /// <summary>
    /// Takes what waits at the port, up to a bound; the number of runs taken. While handlers are behind, only control is taken and the
    /// first data behind it: a token that waits in the kernel would wait for all data that was taken in before it.
    /// </summary>
    public int Receive(PortSlot slot, bool isBehind = false)
    {
        for (int taken = 0; taken < RunsPerTurn; taken++)
        {
            switch (slot.TryReceive(this, out var run))
            {
                case ReceiveOutcome.Received:
                    IsStarved = false;
                    var workClass = Classify(slot, run.Span);
                    queues.Enqueue(workClass, new CoreWork(slot, run));
                    if (isBehind && workClass != WorkClass.InboundControl)
                    {
                        IsAllTaken = false;
                        return taken + 1;
                    }

                    break;
                case ReceiveOutcome.NoMemory:
                    OnStarved();
                    IsAllTaken = false;
                    return taken;
                default:
                    IsStarved = false;
                    return taken;
            }
        }

        IsAllTaken = false;
        return RunsPerTurn;
    }

    /// <summary>A whole block to receive into, the same until a run is placed; null: no memory is left.</summary>
    public Lease? OfferBlock() => _whole ??= pool.TryRent();

    /// <summary>Places a run that lies at the beginning of the block that was offered.</summary>
    public PlacedRun Place(int length)
    {
        var whole = _whole!;
        if (_placement.TryCopySmall(whole.Span[..length], out var copied))
        {
            return copied;
        }

        _whole = null;
        return new PlacedRun(whole, 0, length);
    }

    /// <summary>Places a run that lies elsewhere; false: no memory is left.</summary>
    public bool TryPlace(ReadOnlySpan<byte> bytes, out PlacedRun run) => _placement.TryPlace(bytes, out run);

    /// <summary>Nothing waits at the sockets any more, so nothing is put off.</summary>
    public void EndStarvation() => IsStarved = false;

    /// <summary>Gives back what nobody keeps anything of.</summary>
    public void Trim()
    {
        _whole?.Release();
        _whole = null;
        _placement.Trim();
    }

    /// <summary>Gives the memory back at the end.</summary>
    public void Release()
    {
        _whole?.Release();
        _whole = null;
        _placement.Release();
    }

    private WorkClass Classify(PortSlot slot, ReadOnlySpan<byte> firstBytes)
    {
        try
        {
            return slot.Receiver.IsControl(firstBytes) ? WorkClass.InboundControl
                : slot.Receiver.IsRepair(firstBytes) ? WorkClass.InboundRepair
                : WorkClass.InboundData;
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

using System.Numerics;
using Microsoft.Extensions.Logging;
using QuickSilver.Core.Buffers;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Core.Requests;
using QuickSilver.Core.Transport;
using QuickSilver.Core.Transport.Datagrams;

namespace QuickSilver.Core.Loop;

// Takes completions from their sources and puts each in the queue of its priority: it looks at the type and no further (000, section 3).
internal sealed class CompletionIntake(SlabPool pool, PriorityQueues queues, CoreCounters counters, ILogger logger)
{
    // Enough to spread the cost of a wake and a poll, few enough that a token on another port does not wait long and
    // that what was received is still in the cache when it is handled.
    private const int CompletionsPerTurn = 16;

    /// <summary>Where runs are received to.</summary>
    public RunMemory Memory { get; } = new(pool);

    /// <summary>Whether the last receive was put off because no memory was left.</summary>
    public bool IsStarved { get; private set; }

    /// <summary>Whether all that had come to the ports was taken since <see cref="Begin"/>.</summary>
    public bool IsAllTaken { get; private set; }

    /// <summary>A turn begins to take completions.</summary>
    public void Begin() => IsAllTaken = true;

    /// <summary>
    /// Takes what a source has completed, up to a bound; the number of runs taken. While handlers are behind, only control is taken and the
    /// first data behind it: a token that waits in the kernel would wait for all data that was taken in before it.
    /// </summary>
    public int Take(CompletionSource source, bool isBehind = false)
    {
        int runs = 0;
        for (int taken = 0; taken < CompletionsPerTurn; taken++)
        {
            switch (source.TryTake(Memory, out var completion))
            {
                case TakeOutcome.Taken:
                    if (completion.Kind != CompletionKind.Run)
                    {
                        queues.Enqueue(ClassOf(completion.Kind), new CoreWork(completion));
                        continue;
                    }

                    IsStarved = false;
                    runs++;
                    var workClass = Classify((PortSource)source, completion.Run.Span);
                    queues.Enqueue(workClass, new CoreWork(completion));
                    if (isBehind && workClass != WorkClass.InboundControl)
                    {
                        IsAllTaken = false;
                        return runs;
                    }

                    break;
                case TakeOutcome.NoMemory:
                    OnStarved();
                    IsAllTaken = false;
                    return runs;
                default:
                    IsStarved &= source is not PortSource;
                    return runs;
            }
        }

        IsAllTaken = false;
        return runs;
    }

    /// <summary>Nothing waits at the ports any more, so nothing is put off.</summary>
    public void EndStarvation() => IsStarved = false;

    /// <summary>Gives the memory back at the end.</summary>
    public void Release() => Memory.Release();

    // What streams bring is control: they carry the membership.
    private static WorkClass ClassOf(CompletionKind kind) =>
        kind == CompletionKind.Disk ? WorkClass.Disk : WorkClass.InboundControl;

    private WorkClass Classify(PortSource source, ReadOnlySpan<byte> firstBytes)
    {
        try
        {
            return source.Receiver.IsControl(firstBytes) ? WorkClass.InboundControl
                : source.Receiver.IsRepair(firstBytes) ? WorkClass.InboundRepair
                : WorkClass.InboundData;
        }
        catch (Exception exception)
        {
            counters.HandlerExceptions++;
            CoreLog.HandlerThrew(logger, exception, source);
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

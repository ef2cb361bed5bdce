using QuickSilver.Core.Environment;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Ordering.Credit;
using QuickSilver.Multicast.Ordering.Holding;

namespace QuickSilver.Multicast.Tests.Ordering.Holding;

// Gaps and news of what is stable cost no memory of the budget. So what is held of them is bounded by the messages.
public sealed class HeldRunTests
{
    private const ulong Topic = 7;

    private static readonly NodeKey Sender = new(1, 1);

    private readonly HeldRun _run = new(Sender, Topic, new ParkingBudget(1 << 20, 1 << 20, NodeHeap.OfProcess));

    [Fact]
    public void Gaps_without_a_message_between_them_are_one()
    {
        for (long number = 2; number <= 10_000; number += 2)
        {
            Add(number, number + 1);
            _run.AddStable(number + 1, view: 1);
        }

        Assert.Equal(["2-10001", "=10001"], Taken());
    }

    [Fact]
    public void A_gap_of_another_reason_or_view_stays_apart()
    {
        Add(2, 3);
        Add(4, 5, TopicGapReason.Unaccounted);
        Add(6, 7, TopicGapReason.Unaccounted);
        _run.AddStable(7, view: 1);
        Add(8, 9, TopicGapReason.Unaccounted, view: 2);
        _run.AddStable(9, view: 2);

        Assert.Equal(["2-3", "4-7", "=7", "8-9", "=9"], Taken());
    }

    private void Add(long first, long last, TopicGapReason reason = TopicGapReason.SenderGone, long view = 1) =>
        _run.Add(new TopicGap(Sender, Topic, first, last, reason), view);

    private List<string> Taken()
    {
        var taken = new List<string>();
        while (_run.Count > 0)
        {
            taken.Add(_run.TryPeekGap(out var gap) ? $"{gap.Value.First}-{gap.Value.Last}"
                : _run.TryPeekStable(out long through) ? $"={through}" : "message");
            _run.Remove();
        }

        return taken;
    }
}

using QuickSilver.Multicast.Receiving.States;

namespace QuickSilver.Multicast.Tests.Receiving;

public sealed class LossReportTests
{
    private LossReport _loss;

    [Fact]
    public void A_loss_that_was_reported_when_all_was_read_is_not_repeated()
    {
        _loss.Begin(isUnread: false);
        Assert.False(_loss.IsDue);
        Assert.False(_loss.TryRepeat(hasRead: true, mayHaveMemory: true));
    }

    [Fact]
    public void A_loss_is_reported_again_each_time_that_more_was_read()
    {
        _loss.Begin(isUnread: true);
        Assert.False(_loss.TryRepeat(hasRead: false, mayHaveMemory: true));
        Assert.True(_loss.TryRepeat(hasRead: true, mayHaveMemory: false));
        _loss.Begin(isUnread: true);
        Assert.True(_loss.TryRepeat(hasRead: true, mayHaveMemory: false));
        _loss.Begin(isUnread: false);
        Assert.False(_loss.TryRepeat(hasRead: true, mayHaveMemory: false));
    }

    [Fact]
    public void A_refused_report_is_repeated_when_there_may_be_memory()
    {
        _loss.Begin(isUnread: false);
        _loss.Refuse();
        Assert.False(_loss.TryRepeat(hasRead: false, mayHaveMemory: false));
        Assert.True(_loss.TryRepeat(hasRead: false, mayHaveMemory: true));
        _loss.Begin(isUnread: false);
        Assert.False(_loss.TryRepeat(hasRead: false, mayHaveMemory: true));
    }

    [Fact]
    public void A_report_is_due_once_the_layer_above_waits_for_what_is_not_read()
    {
        _loss.Await(isUnread: false);
        Assert.False(_loss.IsDue);
        _loss.Await(isUnread: true);
        _loss.Await(isUnread: false);
        Assert.True(_loss.IsDue);
    }
}

using QuickSilver.Core.Environment;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Sending;
using QuickSilver.Multicast.Sending.Acknowledgement;
using QuickSilver.Multicast.Tests.Infrastructure;

namespace QuickSilver.Multicast.Tests.Views;

public sealed class ConfirmationTests : IConfirmingNode
{
    private const long Configuration = 5;

    private readonly LoneSender _sender = new LoneSender().Opened();
    private readonly SentStreams _sent;
    private Confirmation? _confirmation;
    private int _looks;

    public ConfirmationTests()
    {
        _sent = new SentStreams();
        _sent.Add(_sender.Stream);
        _sender.Stream.RoutedAt = Configuration;
        _sender.Send(3);
    }

    INodeEnvironment IConfirmingNode.Environment => _sender.Environment;

    void IConfirmingNode.ConfirmIfSettled() => _looks++;

    [Fact]
    public void Packets_sent_into_a_current_view_hold_nothing_up()
    {
        Confirmation.Hold(_sent, Configuration, this, ref _confirmation);
        Assert.Null(_confirmation);
    }

    [Fact]
    public void A_superseded_view_holds_the_number_up_for_a_moment_and_is_named_then_until_it_is_settled()
    {
        var view = new OpenView(_sender.Stream.View.RegionId, _sender.Stream.View.Number);
        _sent.Supersede(view.Region, Configuration);
        Assert.Equal(Configuration - 1, Weigh());
        Assert.True(_confirmation!.IsNothingNamed);

        _sender.Advance(TimeSpan.FromSeconds(1));
        Assert.Equal(1, _looks);
        Assert.Equal(Configuration, Weigh());
        Assert.Equal(view, Assert.Single(_confirmation.Named));
        Assert.True(_confirmation.IsNews);

        _sender.Ack(3);
        _sent.CloseSettled();
        Assert.Equal(Configuration, Weigh());
        Assert.True(_confirmation is { IsNews: true, IsNothingNamed: true });
    }

    private long Weigh()
    {
        Confirmation.Hold(_sent, Configuration, this, ref _confirmation);
        return _confirmation!.Weigh(Configuration);
    }
}

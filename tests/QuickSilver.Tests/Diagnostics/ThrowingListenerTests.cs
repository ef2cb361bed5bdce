using System.Diagnostics;
using System.Diagnostics.Metrics;
using QuickSilver.Diagnostics.Figures;
using QuickSilver.Tests.Infrastructure;

namespace QuickSilver.Tests.Diagnostics;

// A listener to activities or meters that throws holds up nothing.
public sealed class ThrowingListenerTests
{
    private readonly string _name = $"throwing-{Guid.NewGuid():N}";

    public enum Moment
    {
        Sampling,
        Start,
        Stop,
    }

    [Theory]
    [InlineData(Moment.Sampling)]
    [InlineData(Moment.Start)]
    [InlineData(Moment.Stop)]
    public async Task Messages_and_requests_that_it_traces_come_and_end(Moment moment)
    {
        using var listener = Listen(moment);
        await using var node = await new InMemoryNetwork().StartNodeAsync().OrFail();
        await using var responder = await node.OpenResponderAsync<string, string>(_name, (request, _) => new(request.Value)).OrFail();
        await using var requester = await node.OpenRequesterAsync<string, string>(
            _name, new RequesterOptions { MaxOutstanding = 1 }).OrFail();
        long faults = node.Read(NodeFigures.ListenerFaults);
        var outer = Activity.Current;
        for (int i = 0; i < 10; i++)
        {
            Assert.Equal($"{i}", await requester.AskAsync($"{i}").OrFail());
        }

        Assert.Same(outer, Activity.Current);
        Assert.Equal(0, requester.Outstanding);
        await Assert.ThrowsAnyAsync<OperationCanceledException>(
            () => requester.AskAsync("x", new CancellationToken(canceled: true))).OrFail();

        await using var topic = await node.OpenTopicAsync<string>("news " + _name).OrFail();
        int handled = 0;
        using var handler = topic.SubscribeInline((in Message<string> _) => handled++);
        await topic.PublishAsync("x", new MessageHeaders { CorrelationId = "c" }, PublishCompletion.Stable).OrFail();
        await Patience.Until(() => Volatile.Read(ref handled) == 1);
        Assert.InRange(node.Read(NodeFigures.ListenerFaults) - faults, 10, long.MaxValue);
    }

    [Fact]
    public async Task A_meter_whose_listener_throws_keeps_no_message_back()
    {
        using var listener = new MeterListener
        {
            InstrumentPublished = static (instrument, listener) =>
            {
                if (instrument.Meter.Name == "QuickSilver" && instrument.Name == "quicksilver.publish.stable.duration")
                {
                    listener.EnableMeasurementEvents(instrument);
                }
            },
        };
        await using var node = await new InMemoryNetwork().StartNodeAsync().OrFail();
        string own = node.Id.ToString();
        listener.SetMeasurementEventCallback<double>((_, _, tags, _) =>
        {
            // Other listeners see those of other tests.
            if (tags.ToArray().Any(tag => own.Equals(tag.Value)))
            {
                throw new InvalidOperationException("a test");
            }
        });
        listener.Start();
        await using var topic = await node.OpenTopicAsync<string>(_name).OrFail();
        long faults = node.Read(NodeFigures.ListenerFaults);
        await Patience.Until(() =>
        {
            Assert.True(topic.PublishAsync("x", PublishCompletion.Stable).AsTask().Wait(TimeSpan.FromSeconds(30)));
            return node.Read(NodeFigures.ListenerFaults) > faults;
        });
    }

    private ActivityListener Listen(Moment moment)
    {
        var listener = new ActivityListener
        {
            ShouldListenTo = static source => source.Name == "QuickSilver",
            Sample = (ref ActivityCreationOptions<ActivityContext> options) =>
            {
                // Those of other tests are not sampled.
                if (!options.Name.EndsWith(_name, StringComparison.Ordinal))
                {
                    return ActivitySamplingResult.None;
                }

                ThrowIf(Moment.Sampling);
                return ActivitySamplingResult.AllDataAndRecorded;
            },
            ActivityStarted = _ => ThrowIf(Moment.Start),
            ActivityStopped = _ => ThrowIf(Moment.Stop),
        };
        ActivitySource.AddActivityListener(listener);
        return listener;

        void ThrowIf(Moment now)
        {
            if (now == moment)
            {
                throw new InvalidOperationException("a test");
            }
        }
    }
}

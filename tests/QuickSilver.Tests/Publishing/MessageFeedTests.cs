using System.Text;
using QuickSilver.Diagnostics.Figures;
using QuickSilver.Feeds;
using QuickSilver.Publishing.Feeds;
using QuickSilver.Tests.Infrastructure;
using QuickSilver.Tests.Infrastructure.Fakes;

namespace QuickSilver.Tests.Publishing;

// What a feed may give in its turns.
public sealed class MessageFeedTests : IAsyncLifetime
{
    private const string Name = "feed";
    private const int HeaderBytes = 20;

    private readonly FakeParts _parts = new(threaded: false);
    private readonly RecordingLogs _logs = new();
    private QuickSilverNode _node = null!;
    private ITopicPublisher<string> _topic = null!;

    private FakeSender Sender => _parts.SenderOf(Name);

    private IEnumerable<string> Sent => Sender.Sent.Select(Encoding.UTF8.GetString);

    public async ValueTask InitializeAsync()
    {
        _node = await _parts.StartAsync(logs: _logs);
        _topic = await _parts.OpenPublisherAsync<string>(_node, Name);
    }

    public async ValueTask DisposeAsync() => await _parts.DisposeAsync();

    [Fact]
    public void A_feed_gets_a_budget_of_messages_and_bytes_and_can_write_exactly_that()
    {
        Sender.RoomBytes = 1000;
        var budgets = new List<(int Messages, int Bytes)>();
        var feed = new ScriptedFeed(writer =>
        {
            while (writer.CanWrite)
            {
                budgets.Add((writer.MessagesLeft, writer.BytesLeft));
                writer.Write(new string('x', 80));
            }

            budgets.Add((writer.MessagesLeft, writer.BytesLeft));
            return false;
        });

        Attach(feed);

        Assert.Equal(10, Sender.Count);
        Assert.Equal(Enumerable.Range(0, 11).Select(i => ((1000 - (i * 100)) / HeaderBytes, 1000 - (i * 100))), budgets);
    }

    [Fact]
    public void The_last_message_of_a_turn_may_exceed_its_bytes()
    {
        Sender.RoomBytes = 100;
        var feed = ScriptedFeed.Counting(messages: 1, bytes: 5000);
        Attach(feed);
        Assert.Equal([new string('0', 4999) + "1"], Sent);
    }

    [Fact]
    public void A_turn_is_no_longer_than_a_topic_s()
    {
        var counts = new List<int>();
        var feed = new ScriptedFeed(writer =>
        {
            counts.Add(writer.MessagesLeft);
            for (int i = 0; i < 600; i++)
            {
                writer.Write("x");
            }

            return counts.Count < 4;
        });

        Attach(feed);

        // It has two turns in each turn of the topic, and overruns every other one.
        Assert.Equal([1024, 424], counts);
        Assert.Equal(1024, Sender.Count);
    }

    [Fact]
    public void A_feed_that_overruns_its_budget_is_refused_and_what_it_wrote_before_is_sent()
    {
        Sender.RoomBytes = 2 * (HeaderBytes + 1);
        var feed = new ScriptedFeed(writer =>
        {
            for (int i = 1; i <= 3; i++)
            {
                writer.Write($"{i}");
            }

            return true;
        });

        var attached = Attach(feed);

        Assert.Equal((1, 1L), (feed.Asked, _node.Read(NodeFigures.FeedFaults)));
        Assert.Contains(_logs.Entries, entry => entry.Id == 1613 && entry.Exception is InvalidOperationException overrun
            && overrun.Message.Contains("Check CanWrite", StringComparison.Ordinal));
        Sender.MakeStable();
        _parts.Core.Pump();
        Assert.Equal([2], feed.Stable);
        attached.Signal();
        _parts.Core.Pump();
        Assert.Equal(["1", "2", "1", "2"], Sent);
    }

    [Fact]
    public void A_message_without_room_ends_the_turn_and_is_sent_first_in_the_next()
    {
        Sender.GiveRoom(2);
        var feed = ScriptedFeed.Counting();
        Attach(feed);
        Assert.Equal(["1", "2"], Sent);
        Sender.GiveRoom(2);
        Assert.Equal(["1", "2", "3", "4"], Sent);
        Assert.Equal(2, feed.Asked);
        Assert.Equal(0, _node.Read(NodeFigures.FeedFaults));
    }

    [Fact]
    public void A_feed_without_a_message_to_keep_is_not_asked_while_there_is_no_room()
    {
        Sender.GiveRoom(0);
        var feed = ScriptedFeed.Counting(messages: 3);
        Attach(feed);
        Assert.Equal(0, feed.Asked);
        Sender.GiveRoom(5);
        Assert.Equal((1, 3L), (feed.Asked, Sender.Count));
    }

    [Fact]
    public void A_feed_that_answers_more_and_gives_nothing_is_asked_again_when_it_signals()
    {
        var feed = new ScriptedFeed(_ => true);
        var attached = Attach(feed);
        Assert.Equal(1, feed.Asked);
        attached.Signal();
        _parts.Core.Pump();
        Assert.Equal(2, feed.Asked);
    }

    [Fact]
    public void A_feed_that_throws_is_counted_and_asked_again_when_it_signals()
    {
        bool throws = true;
        var feed = new ScriptedFeed(writer =>
        {
            writer.Write("x");
            return throws ? throw new InvalidDataException("broken") : false;
        });
        var attached = Attach(feed);
        Assert.Equal((1, 1L, 1L), (feed.Asked, Sender.Count, _node.Read(NodeFigures.FeedFaults)));
        Assert.Contains(_logs.Entries, entry => entry.Id == 1613 && entry.Exception is InvalidDataException);
        throws = false;
        attached.Signal();
        _parts.Core.Pump();
        Assert.Equal((2, 2L), (feed.Asked, Sender.Count));
        Sender.MakeStable();
        _parts.Core.Pump();
        Assert.Equal([2], feed.Stable);
    }

    [Fact]
    public void A_feed_that_throws_in_a_notification_is_counted_and_asked_again_when_it_signals()
    {
        var feed = new ScriptedFeed(writer =>
        {
            writer.Write("x");
            return false;
        })
        {
            OnTold = _ => throw new InvalidDataException("broken"),
        };
        var attached = Attach(feed);
        attached.Signal();
        _parts.Core.Pump();
        Sender.MakeStable();
        _parts.Core.Pump();
        Assert.Equal((2, 1L), (feed.Asked, _node.Read(NodeFigures.FeedFaults)));
        attached.Signal();
        _parts.Core.Pump();
        Sender.MakeStable();
        _parts.Core.Pump();
        Assert.Equal([2, 3], feed.Stable);
    }

    [Fact]
    public void A_writer_cannot_be_used_after_the_turn()
    {
        var feed = ScriptedFeed.Counting(messages: 1);
        Attach(feed);
        Assert.Equal((false, 0, 0), (feed.Writer!.CanWrite, feed.Writer.MessagesLeft, feed.Writer.BytesLeft));
        var refusal = Assert.Throws<InvalidOperationException>(() => feed.Writer.Write("late"));
        Assert.Contains("outside the feed's turn", refusal.Message, StringComparison.Ordinal);
        Assert.Equal(1, Sender.Count);
    }

    [Fact]
    public void A_message_that_cannot_be_written_has_no_number()
    {
        Sender.MostBytes = 100;
        var refusals = new List<Exception>();
        var feed = new ScriptedFeed(writer =>
        {
            foreach (string? one in (string?[])[null, new string('x', 101), new string('x', (16 << 20) + 1), "fits"])
            {
                try
                {
                    writer.Write(one!);
                }
                catch (Exception exception)
                {
                    refusals.Add(exception);
                }
            }

            return false;
        });

        Attach(feed);
        Sender.MakeStable();
        _parts.Core.Pump();

        Assert.Equal(
            [typeof(ArgumentNullException), typeof(MessageTooLargeException), typeof(MessageTooLargeException)],
            refusals.Select(one => one.GetType()));
        Assert.Equal(["fits"], Sent);
        Assert.Equal([1], feed.Stable);
    }

    [Theory]
    [InlineData(1, 1)]
    [InlineData(13, 1)]
    [InlineData(61, 1)]
    [InlineData(61, 3)]
    [InlineData(100, 10)]
    public void A_thousand_feeds_of_a_topic_share_its_room_within_five_percent(int portion, int sizes)
    {
        const int feeds = 1000;
        const int turns = 30;
        Sender.Keeps = false;
        Sender.GiveRoom(0);
        var given = new long[feeds];
        for (int i = 0; i < feeds; i++)
        {
            int number = i;
            string payload = new('x', 1000 / (1 + (i % sizes)));
            _topic.AttachFeed(new ScriptedFeed(writer =>
            {
                while (writer.CanWrite)
                {
                    writer.Write(payload);
                    given[number] += payload.Length + HeaderBytes;
                }

                return true;
            }));
        }

        _parts.Core.Pump();
        while (given.Sum() < (long)feeds * turns * FeedRotation.TurnBytes)
        {
            Sender.GiveRoom(portion);
        }

        double mean = given.Average();
        Assert.InRange(given.Min(), 0.95 * mean, mean);
        Assert.InRange(given.Max(), mean, 1.05 * mean);
    }

    [Fact]
    public void Feeds_that_come_and_go_do_not_keep_the_others_from_their_turns()
    {
        Sender.GiveRoom(0);
        Attach(ScriptedFeed.Counting(bytes: 4000));
        for (int i = 0; i < 50; i++)
        {
            using (Attach(ScriptedFeed.Counting(bytes: 2000)))
            {
                Sender.GiveRoom(1);
            }

            _parts.Core.Pump();
        }

        Assert.InRange(Sender.Sent.Count(one => one.Length == 4000), 20, 50);
    }

    private IAttachedFeed Attach(ScriptedFeed feed)
    {
        var attached = _topic.AttachFeed(feed);
        _parts.Core.Pump();
        return attached;
    }
}

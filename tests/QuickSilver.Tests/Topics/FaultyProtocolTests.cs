using QuickSilver.Core.Requests;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Protocols;
using QuickSilver.Multicast.Protocols.Transfers;
using QuickSilver.Tests.Infrastructure.Fakes;

namespace QuickSilver.Tests.Topics;

// A protocol that throws where the node calls it. It must harm neither the other protocols nor the end of the node.
public sealed class FaultyProtocolTests
{
    private readonly List<Recorded> _protocols = [];

    [Fact]
    public async Task A_protocol_that_throws_at_the_end_keeps_the_node_not_from_leaving()
    {
        await using var parts = new FakeParts();
        var node = await StartAsync(parts);
        _protocols[0].Throws = "close";
        await node.DisposeAsync().AsTask().WaitAsync(TimeSpan.FromSeconds(20));

        Assert.Contains("close", _protocols[1].Calls);
        Assert.True(parts.Service.HasLeft);
    }

    [Fact]
    public async Task A_protocol_that_throws_when_no_more_letters_come_keeps_the_others_not_from_being_notified()
    {
        await using var parts = new FakeParts();
        var node = await StartAsync(parts);
        await parts.Core.RunAsync(() => _protocols.ForEach(static one => one.OpenLetters()));
        foreach (var one in _protocols)
        {
            one.Throws = "letters ended";
        }

        await node.DisposeAsync().AsTask().WaitAsync(TimeSpan.FromSeconds(20));

        Assert.All(_protocols, static one => Assert.Contains("letters ended", one.Calls));
        Assert.True(parts.Service.HasLeft);
    }

    // What escapes here ends the node, with all of its topics.
    [Fact]
    public async Task A_protocol_that_throws_at_a_configuration_keeps_it_not_from_the_others()
    {
        await using var parts = new FakeParts();
        await StartAsync(parts);
        _protocols[0].Throws = "configuration";
        var change = new ConfigurationChange { Number = 9, IsSnapshot = false, Topics = [] };
        await parts.Core.RunAsync(() => parts.Service.Observer!.OnConfiguration(change));

        Assert.Contains("configuration", _protocols[1].Calls);
    }

    [Fact]
    public async Task The_waits_of_other_protocols_are_reported_although_one_throws()
    {
        await using var parts = new FakeParts(threaded: false);
        var node = await StartAsync(parts);
        _protocols[0].Throws = "waits";
        _protocols[1].Wait = new Waiting();
        parts.Core.Post(new ActionRequest(_protocols[1].Node.OnWait));
        parts.Core.Pump();
        for (int i = 0; i < 30; i++)
        {
            Try(() => parts.Core.Advance(TimeSpan.FromMilliseconds(100)));
        }

        Assert.Equal(StatusReasonKind.ProtocolWaits, Assert.Single(node.Status.Reasons).Kind);
    }

    [Fact]
    public async Task A_taker_that_throws_keeps_the_other_transfers_not_from_their_donors()
    {
        await using var parts = new FakeParts(threaded: false);
        await StartAsync(parts);
        var transfers = _protocols[0].Node.OpenTransfers("Bulk", new NoSource());
        var (faulty, sound) = (new Taker { Throws = true }, new Taker());
        transfers.Take([1], 0, "the first", faulty);
        transfers.Take([2], 0, "the second", sound);
        for (int i = 0; i < 30; i++)
        {
            Try(() => parts.Core.Advance(TimeSpan.FromMilliseconds(100)));
        }

        Assert.NotEqual(0, faulty.Asked);
        Assert.NotEqual(0, sound.Asked);
    }

    private static void Try(Action action)
    {
        try
        {
            action();
        }
        catch (InvalidOperationException)
        {
            // The core thread logs it.
        }
    }

    private async Task<QuickSilverNode> StartAsync(FakeParts parts)
    {
        var node = await parts.StartAsync(new QuickSilverOptions { StallWarning = TimeSpan.FromSeconds(1) });
        foreach (string name in (string[])["First", "Second"])
        {
            var factory = new TopicProtocolFactory(name, protocols =>
            {
                _protocols.Add(new Recorded(protocols, name));
                return _protocols[^1];
            });
            await parts.OpenAsync<byte[]>(node, name, new TopicOptions { Protocol = new ProtocolChoice(factory) });
        }

        return node;
    }

    private sealed class Recorded(IProtocolNode node, string name) : ITopicProtocol, ILetterReader
    {
        private readonly List<string> _calls = [];

        public IProtocolNode Node => node;

        /// <summary>At which call it throws.</summary>
        public string? Throws { get; set; }

        public IProtocolWait? Wait { get; set; }

        public IReadOnlyList<string> Calls
        {
            get
            {
                lock (_calls)
                {
                    return [.. _calls];
                }
            }
        }

        public void OpenLetters() => node.OpenLetters(name, this);

        public ITopicSender OpenPublisher(in ProtocolTopic topic) => node.Multicast.OpenPublisher(new ChannelSpec(topic.Id));

        public ITopicReceiver OpenSubscription(in ProtocolTopic topic, IDeliverySink sink) =>
            node.Multicast.OpenSubscription(new ChannelSpec(topic.Id), sink);

        public void OnConfiguration() => Call("configuration");

        public void AddWaits(List<IProtocolWait> waits)
        {
            Call("waits");
            if (Wait is not null)
            {
                waits.Add(Wait);
            }
        }

        public void Close() => Call("close");

        public void OnLetter(NodeKey sender, ReadOnlySpan<byte> letter)
        {
        }

        public void OnEnded(Exception reason) => Call("letters ended");

        private void Call(string what)
        {
            lock (_calls)
            {
                _calls.Add(what);
            }

            if (Throws == what)
            {
                throw new InvalidOperationException("As a protocol may.");
            }
        }
    }

    private sealed class Waiting : IProtocolWait
    {
        public long Progress => 3;

        public string What => "The second waits";

        public string? WaitsFor => null;
    }

    private sealed class NoSource : ITransferSource
    {
        public ITransferContent? Open(NodeKey taker, ReadOnlySpan<byte> subject, long from) => null;
    }

    private sealed class Taker : ITransferTaker
    {
        public bool Throws { get; set; }

        public int Asked { get; private set; }

        public void AddDonors(List<NodeKey> donors)
        {
            Asked++;
            if (Throws)
            {
                throw new InvalidOperationException("As a protocol may.");
            }
        }

        public TransferStep OnChunk(NodeKey donor, ReadOnlySpan<byte> chunk, long through) => TransferStep.Take;

        public void OnEnd(NodeKey donor)
        {
        }
    }
}

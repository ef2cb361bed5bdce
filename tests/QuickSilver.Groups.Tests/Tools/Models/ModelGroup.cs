using System.Buffers;
using System.Collections.Immutable;
using System.IO.Pipelines;
using QuickSilver.Groups.Tools.Replicas;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Serialization;

namespace QuickSilver.Groups.Tests.Tools.Models;

// A group without a network: what its members send waits until the test delivers it, to all members in one order. The test makes the views,
// and removes members that come back.
internal sealed class ModelGroup<TTool>(Func<NodeId, IToolHost, TTool> create)
    where TTool : GroupTool
{
    private readonly List<Member> _members = [];
    private readonly Queue<(Member Sender, int Life, ReadOnlyMemory<byte> Message)> _sent = new();
    private ulong _last;
    private long _view;

    public IReadOnlyList<Member> Members => _members;

    public long View => _view;

    /// <summary>The number of messages that are not delivered.</summary>
    public int Waiting => _sent.Count;

    /// <summary>A node joins: it reads the state of the oldest member.</summary>
    public Member Join()
    {
        var member = new Member(this, new NodeId(++_last, 1));
        _members.Add(member);
        ChangeView(joined: member);
        return member;
    }

    /// <summary>A member leaves or fails. What it has sent and is not delivered is lost.</summary>
    public void Leave(Member member, Exception? error = null)
    {
        _members.Remove(member);
        member.Life++;
        var reason = error is null ? SubscriptionEndReason.Disposed : SubscriptionEndReason.NodeExpelled;
        member.Tool.Replica.OnEnded(new SubscriptionEnd(reason, error));
        ChangeView();
    }

    /// <summary>A member is removed, and comes back in the same view as the youngest, without what it has sent.</summary>
    public void RemoveAndReturn(Member member)
    {
        member.Life++;
        _members.Remove(member);
        _members.Add(member);
        ChangeView(joined: member);
    }

    /// <summary>Delivers what was sent, and what is sent meanwhile.</summary>
    public void Deliver()
    {
        while (_sent.Count > 0)
        {
            DeliverOne();
        }
    }

    public void DeliverOne()
    {
        var (sender, life, message) = _sent.Dequeue();
        if (sender.Life == life)
        {
            Send(sender.Id, message);
        }
    }

    /// <summary>Delivers bytes as a message of a node.</summary>
    public void Send(NodeId sender, ReadOnlyMemory<byte> message)
    {
        foreach (var member in _members.Where(static one => !one.IsCutOff).ToArray())
        {
            member.Take(new GroupEvent<ReadOnlyMemory<byte>>(member.View!, sender, message));
        }
    }

    public static byte[] StateOf(Member member)
    {
        var stream = new MemoryStream();
        var writer = PipeWriter.Create(stream);
        Member.Done(member.Tool.Replica.WriteStateAsync(writer, CancellationToken.None));
        Member.Done(new ValueTask(writer.FlushAsync().AsTask()));
        return stream.ToArray();
    }

    private void ChangeView(Member? joined = null)
    {
        _view++;
        var keys = _members.Select(static one => new NodeKey(one.Id.Id, one.Id.Incarnation)).ToImmutableArray();
        byte[]? state = null;
        foreach (var member in _members.ToArray())
        {
            var before = member.Keys;
            var own = joined == member ? [] : before;
            member.Keys = keys;
            member.View = new GroupView("model", new MemberView
            {
                TopicId = 1,
                Configuration = _view,
                Members = keys,
                Joined = [.. keys.Where(one => !own.Contains(one) || one.Id == joined?.Id.Id)],
                Left = [.. before.Where(one => !keys.Contains(one) || one.Id == joined?.Id.Id)],
            });
            if (joined == member && state is not null)
            {
                member.Read(state);
            }
            else
            {
                member.Take(new GroupEvent<ReadOnlyMemory<byte>>(member.View));
                state ??= StateOf(member);
            }
        }
    }

    internal sealed class Member : IGroup<ReadOnlyMemory<byte>>
    {
        private readonly ModelGroup<TTool> _group;
        private readonly List<byte[]> _delayed = [];

        public Member(ModelGroup<TTool> group, NodeId id)
        {
            _group = group;
            Id = id;
            Tool = group.Create(id, Host);
            Tool.Begin(this);
        }

        public NodeId Id { get; }

        public TestHost Host { get; } = new();

        public TTool Tool { get; }

        public GroupView? View { get; set; }

        public ImmutableArray<NodeKey> Keys { get; set; } = [];

        public int Life { get; set; }

        /// <summary>The member gets nothing. It must be removed and return before it gets anything again.</summary>
        public bool IsCutOff { get; set; }

        /// <summary>What is sent waits for <see cref="SendDelayed"/>, as when there is no room.</summary>
        public bool Delays { get; set; }

        /// <summary>Sends of this member fail so.</summary>
        public Exception? SendFault { get; set; }

        public string Name => "model";

        public void Take(GroupEvent<ReadOnlyMemory<byte>> one) => Done(Tool.Replica.OnEventAsync(one, CancellationToken.None));

        public void Read(byte[] state) => Done(Tool.Replica.ReadStateAsync(
            PipeReader.Create(new ReadOnlySequence<byte>(state)), View!, CancellationToken.None));

        public IAsyncEnumerable<GroupReply<TReply>> AskAsync<TReply>(
            ReadOnlyMemory<byte> question, QuestionOptions? options = null, CancellationToken cancellationToken = default) =>
            throw new NotSupportedException();

        public IAsyncEnumerable<GroupReply<TReply>> AskAsync<TReply>(
            ReadOnlyMemory<byte> question,
            IPayloadCodec<TReply> codec,
            QuestionOptions? options = null,
            CancellationToken cancellationToken = default) => throw new NotSupportedException();

        public ValueTask SendAsync(ReadOnlyMemory<byte> message, CancellationToken cancellationToken = default) =>
            SendAsync(message, GroupOrder.Total, cancellationToken);

        public ValueTask SendAsync(ReadOnlyMemory<byte> message, GroupOrder order, CancellationToken cancellationToken = default)
        {
            if (SendFault is not null)
            {
                throw SendFault;
            }

            if (Delays)
            {
                _delayed.Add(message.ToArray());
            }
            else
            {
                _group._sent.Enqueue((this, Life, message.ToArray()));
            }

            return default;
        }

        /// <summary>Sends what was delayed, after all that was sent meanwhile.</summary>
        public void SendDelayed()
        {
            Delays = false;
            _delayed.ForEach(message => _group._sent.Enqueue((this, Life, message)));
            _delayed.Clear();
        }

        public IAsyncEnumerable<GroupEvent<ReadOnlyMemory<byte>>> ReadAllAsync(
            Action<GapNotice>? onGap = null, CancellationToken cancellationToken = default) => throw new NotSupportedException();

        public ISubscription SubscribeInline(
            GroupHandler<ReadOnlyMemory<byte>> handler,
            Action<GapNotice>? onGap = null,
            Action<SubscriptionEnd>? onEnded = null) => throw new NotSupportedException();

        public Task DrainAsync(CancellationToken cancellationToken = default) => Task.CompletedTask;

        /// <summary>The member leaves in order: what it has sent comes before the view without it.</summary>
        public ValueTask DisposeAsync()
        {
            if (_group._members.Contains(this))
            {
                _group.Deliver();
                _group.Leave(this);
            }

            return default;
        }

        internal static void Done(ValueTask call)
        {
            Assert.True(call.IsCompleted);
            call.GetAwaiter().GetResult();
        }
    }

    private TTool Create(NodeId id, IToolHost host) => create(id, host);
}

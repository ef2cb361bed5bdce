using QuickSilver.Serialization;

namespace QuickSilver.Groups.Members;

// A group and the value that is its state.
internal sealed class StateGroup<TState, TMessage>(IGroup<TMessage> group, ValueState<TState, TMessage> state)
    : IStateGroup<TState, TMessage>
{
    public string Name => group.Name;

    public TState State => state.State;

    public ValueTask SendAsync(TMessage message, CancellationToken cancellationToken = default) =>
        group.SendAsync(message, cancellationToken);

    public ValueTask SendAsync(TMessage message, GroupOrder order, CancellationToken cancellationToken = default) =>
        group.SendAsync(message, order, cancellationToken);

    public IAsyncEnumerable<GroupEvent<TMessage>> ReadAllAsync(
        Action<GapNotice>? onGap = null, CancellationToken cancellationToken = default) => group.ReadAllAsync(onGap, cancellationToken);

    public ISubscription SubscribeInline(
        GroupHandler<TMessage> handler, Action<GapNotice>? onGap = null, Action<SubscriptionEnd>? onEnded = null) =>
        group.SubscribeInline(handler, onGap, onEnded);

    public IAsyncEnumerable<GroupReply<TReply>> AskAsync<TReply>(
        TMessage question, QuestionOptions? options = null, CancellationToken cancellationToken = default) =>
        group.AskAsync<TReply>(question, options, cancellationToken);

    public IAsyncEnumerable<GroupReply<TReply>> AskAsync<TReply>(
        TMessage question, IPayloadCodec<TReply> codec, QuestionOptions? options = null, CancellationToken cancellationToken = default) =>
        group.AskAsync(question, codec, options, cancellationToken);

    public Task DrainAsync(CancellationToken cancellationToken = default) => group.DrainAsync(cancellationToken);

    public ValueTask DisposeAsync() => group.DisposeAsync();
}

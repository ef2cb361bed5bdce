using QuickSilver.Membership.Contracts;
using QuickSilver.Membership.Protocol;
using QuickSilver.Membership.Protocol.Requests;
using QuickSilver.Membership.Service.Quotas;

namespace QuickSilver.Membership.Service.Sessions;

// The topics that a node names between Join and JoinComplete. They have room in memory until End, which must follow.
internal sealed class SessionRegistration(SessionContext context, JoinMessage join, PeerSource place)
{
    // The contracts that came with a request, by its number: later requests may refer to them.
    private readonly Dictionary<ulong, ContractDescription> _contracts = [];
    private long _bytes;

    public JoinMessage Join => join;

    public List<SetTopicMessage> Topics { get; } = [];

    /// <summary>Adds the topic that the message names.</summary>
    /// <param name="body">The message.</param>
    /// <param name="isFull">Set when the service has no room for the topic, which is no fault of the message.</param>
    /// <returns>What is wrong with the message; null: nothing.</returns>
    public string? TryAdd(ReadOnlySpan<byte> body, out bool isFull)
    {
        isFull = false;
        long bytes = _bytes + body.Length;
        if (Topics.Count >= context.Limits.MaxTopics || bytes > context.Limits.MaxRegistrationBytes)
        {
            return $"the registration exceeds {context.Limits.MaxTopics} topics or {context.Limits.MaxRegistrationBytes} bytes";
        }

        if (!context.Registrations.TryTake(place, body.Length))
        {
            isFull = true;
            return null;
        }

        _bytes = bytes;
        if (!ControlFrame.TryRead(body, _contracts, SetTopicMessage.Read, out var topic, out string? fault))
        {
            return $"invalid message of kind {ControlMessageKind.SetTopic}: {fault}";
        }

        Topics.Add(topic);
        if (topic.ContractOf == 0)
        {
            _contracts[topic.RequestId] = topic.Topic.Contract;
        }

        return null;
    }

    /// <summary>Gives the room back.</summary>
    public void End() => context.Registrations.GiveBack(place, _bytes);
}

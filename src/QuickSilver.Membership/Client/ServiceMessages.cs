using System.Net;
using QuickSilver.Membership.Protocol;
using QuickSilver.Membership.Protocol.Replies;
using QuickSilver.Membership.Snapshots;

namespace QuickSilver.Membership.Client;

// What a membership service sends to a node, decoded. A service may be faulty: messages come in any order.
internal interface IServiceMessages
{
    void OnWelcome(WelcomeMessage welcome);

    void OnRefused(string reason);

    /// <summary>False when the part does not follow the one before it.</summary>
    bool OnConfigurationPart(ConfigurationMessage part);

    void OnTopicOutcome(TopicOutcomeMessage outcome);

    void OnSettled(OpenViewsMessage settled);

    void OnExpelled(string reason);

    void OnGoodbye(IPEndPoint? successor);

    void OnInquiry(InquiryMessage inquiry);

    void OnSnapshotQuestion(SnapshotQuestionMessage question);

    /// <summary>Answers null, or what is wrong with the message.</summary>
    string? OnFollowedTopics(FollowedTopicsMessage news);

    void OnLeft();
}

// Decodes the messages of a service.
internal static class ServiceMessages
{
    /// <summary>Answers null, or what is wrong with the message, for which the stream is closed.</summary>
    /// <param name="kind">The kind of the message. A kind that is not known is from a newer service, and the message is ignored.</param>
    /// <param name="body">The message.</param>
    /// <param name="configurations">Shared by the nodes of this process, so that they decode each configuration once.</param>
    /// <param name="to">Gets the message.</param>
    public static string? Read(int kind, ReadOnlySpan<byte> body, ConfigurationCache configurations, IServiceMessages to)
    {
        string? fault = null;
        switch (kind)
        {
            case ControlMessageKind.Welcome when ControlFrame.TryRead<WelcomeMessage>(body, out var welcome, out fault):
                to.OnWelcome(welcome);
                return null;
            case ControlMessageKind.Refused when ControlFrame.TryRead(body, kind, ReasonMessage.Read, out var refused, out fault):
                to.OnRefused(refused.Reason);
                return null;
            case ControlMessageKind.Configuration when ControlFrame.TryRead(
                body, configurations, static (bytes, known) => known.Read(bytes), out var part, out fault):
                return to.OnConfigurationPart(part) ? null : $"part {part.Part} of configuration {part.Number} out of order";
            case ControlMessageKind.TopicOutcome when ControlFrame.TryRead<TopicOutcomeMessage>(body, out var outcome, out fault):
                to.OnTopicOutcome(outcome);
                return null;
            case ControlMessageKind.Settled when ControlFrame.TryRead(body, kind, OpenViewsMessage.Read, out var settled, out fault):
                to.OnSettled(settled);
                return null;
            case ControlMessageKind.Expelled when ControlFrame.TryRead(body, kind, ReasonMessage.Read, out var expelled, out fault):
                to.OnExpelled(expelled.Reason);
                return null;
            case ControlMessageKind.HeartbeatReply:
                return null;
            case ControlMessageKind.Goodbye when ControlFrame.TryRead<GoodbyeMessage>(body, out var goodbye, out fault):
                to.OnGoodbye(goodbye.Successor);
                return null;
            case ControlMessageKind.Inquiry when ControlFrame.TryRead<InquiryMessage>(body, out var inquiry, out fault):
                to.OnInquiry(inquiry);
                return null;
            case ControlMessageKind.SnapshotQuestion when ControlFrame.TryRead<SnapshotQuestionMessage>(body, out var question, out fault):
                to.OnSnapshotQuestion(question);
                return null;
            case ControlMessageKind.FollowedTopics when ControlFrame.TryRead<FollowedTopicsMessage>(body, out var news, out fault):
                return to.OnFollowedTopics(news);
            case ControlMessageKind.Left:
                to.OnLeft();
                return null;
            default:
                return fault is null ? null : $"invalid message of kind {kind}: {fault}";
        }
    }
}

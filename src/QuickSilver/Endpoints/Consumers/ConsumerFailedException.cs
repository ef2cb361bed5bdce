using QuickSilver.Membership.Views;

namespace QuickSilver;

/// <summary>
/// The exception with which a consumer ends whose error policy stops it, or whose handler of dead letters threw. The inner exception is
/// what it threw at last.
/// </summary>
public sealed class ConsumerFailedException : QuickSilverException
{
    internal ConsumerFailedException(string topic, Type payload, NamedNode sender, long sequence, int attempts, Exception inner)
        : base(
            $"The consumer of the topic \"{topic}\" ({payload}) stopped at message {sequence} of {sender} after {attempts} "
            + $"{(attempts == 1 ? "attempt" : "attempts")}: {inner.GetType()}: {inner.Message} Correct the cause and subscribe again, or "
            + $"choose an error policy that skips messages ({nameof(ConsumerErrors)}).",
            inner)
    {
        Topic = topic;
        PayloadType = payload;
        Sender = sender.Id();
        Sequence = sequence;
        Attempts = attempts;
    }

    /// <summary>The name of the topic.</summary>
    public string Topic { get; }

    /// <summary>The payload type of the endpoint.</summary>
    public Type PayloadType { get; }

    /// <summary>The sender of the message.</summary>
    public NodeId Sender { get; }

    /// <summary>The message's number among that sender's messages in the topic.</summary>
    public long Sequence { get; }

    /// <summary>How often the consumer was called with the message. 0 if the key of the message could not be read.</summary>
    public int Attempts { get; }
}

using System.Runtime.Serialization;
using QuickSilver;

namespace QuickSilverSimulation;

[DataContract]
public sealed record Added([property: DataMember(Order = 1)] int Amount);

// The application under test: each node adds to a sum that all nodes have. Replace it with yours.
public sealed class Counter
{
    public int Sum { get; private set; }

    public void Attach(ITopicSubscriber<Added> topic) => topic.SubscribeInline((in message) => Sum += message.Value.Amount);
}

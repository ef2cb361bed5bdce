using System.Buffers.Binary;
using QuickSilver.Diagnostics;
using QuickSilver.Publishing;
using QuickSilver.Publishing.Lane;
using QuickSilver.Publishing.Requests;
using QuickSilver.Tests.Infrastructure.Fakes;

namespace QuickSilver.Tests.Infrastructure;

// The ways by which one topic's messages come to its sender, without a node: the test is both the publishers and the core thread.
internal sealed class PublishBench
{
    private const long QueueBytes = 64 << 10;

    public PublishBench(long limitBytes = 1 << 20)
    {
        Budget = new PublishBudget(limitBytes);
        Requests = new PublishRequestPool(QueueBytes);
        Lane = new PublishLane(QueueBytes);
        Intake = new PublishIntake(Core, Lane, Requests);
        Publisher = new TopicPublisher(Core, new NodeCounterCells(), Budget, Intake, new PublishLatency(Core, null));
        Intake.Enter(Endpoint, Publisher);
    }

    public TestEnvironment Core { get; } = new(threaded: false);

    public PublishBudget Budget { get; }

    public PublishRequestPool Requests { get; }

    public PublishLane Lane { get; }

    public PublishIntake Intake { get; }

    public TopicPublisher Publisher { get; }

    public PublishGate Gate => Publisher.Gate;

    public StubOrigin Endpoint { get; } = new();

    /// <summary>By which the lane knows the endpoint.</summary>
    public int Number => Endpoint.Source;

    public PublishRequest Request(int number, int bytes = 4, PublishOrigin? origin = null)
    {
        byte[] payload = new byte[bytes];
        BinaryPrimitives.WriteInt32LittleEndian(payload, number);
        return Requests.Rent(origin ?? Endpoint, payload);
    }

    /// <summary>A request that waits in the line unless there is room after all.</summary>
    public Task Wait(PublishRequest request, PublishGate? gate = null)
    {
        gate ??= Gate;
        var wait = Requests.RentWait();
        wait.Gate = gate;
        wait.Request = request;
        request.Wait = wait;
        if (gate.EnterOrQueue(request))
        {
            wait.Request = null;
            wait.Complete();
        }

        return wait.Task.AsTask();
    }

    /// <summary>A message goes by the lane.</summary>
    public void Commit(int number, int bytes = 4)
    {
        Assert.True(Lane.TryClaim(bytes, out var claim));
        claim.Payload.Clear();
        BinaryPrimitives.WriteInt32LittleEndian(claim.Payload, number);
        Lane.Commit(claim, Number, bytes);
        Intake.Signal();
    }

    /// <summary>A message goes past the lane.</summary>
    public void Push(int number) => Assert.True(Gate.TryEnter(Request(number)));

    public static int NumberOf(ReadOnlySpan<byte> payload) => BinaryPrimitives.ReadInt32LittleEndian(payload);

    public static IEnumerable<int> NumbersOf(FakeSender sender) => sender.Sent.Select(payload => NumberOf(payload));

    /// <summary>What lies in the inbox; the core thread has it then.</summary>
    public List<int> TakeInbox()
    {
        var numbers = new List<int>();
        for (var request = Gate.TakeInbox(); request is not null; request = request.Next)
        {
            numbers.Add(NumberOf(request.Payload));
        }

        return numbers;
    }
}

using System.Buffers;
using QuickSilver.Groups;
using QuickSilver.Groups.Tools.Barriers;
using QuickSilver.Groups.Tools.Dictionaries;
using QuickSilver.Groups.Tools.Leaders;
using QuickSilver.Groups.Tools.Locks;
using QuickSilver.Groups.Tools.Replicas;
using QuickSilver.Groups.Tools.WorkQueues;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Serialization;

namespace QuickSilver.Fuzz.Groups;

// What members of a tool's group send to each other: operations, and states for members that join. The first byte of the input says which
// tool it is of, and whether it is a state. Operations follow each other, each with its sender (1 byte) and its length (2). Whatever they
// are, the state that they make is one that can be read, and what was read is written the same.
internal sealed class ToolTarget : FuzzTarget
{
    private const byte IsState = 0x80;

    private static readonly NodeKey[] Members = [new(1, 1), new(2, 1), new(3, 9)];
    private static readonly OperationCodec Codec = new(new PayloadSchema("bytes", PayloadSchema.BytesKind, []));

    private static readonly Func<Machine>[] Machines =
    [
        static () => new DictionaryMachine(),
        static () => new LockMachine(),
        static () => new LeaderMachine(),
        static () => new BarrierMachine(),
        static () => new WorkQueueMachine(),
    ];

    public override string Name => "grouptools";

    public override IReadOnlyList<Type> Decoders { get; } = [typeof(Operation), typeof(OperationCodec), typeof(Machine)];

    public override IEnumerable<Seed> Seeds()
    {
        byte[] set = DictionaryMachine.SetOf(DictionaryMachine.Set, 10, 2, 3, out var key, out var value);
        key.Fill(1);
        value.Fill(2);
        byte[] update = DictionaryMachine.UpdateOf(1, 2, 1, out key, out _);
        key.Fill(1);
        byte[] remove = DictionaryMachine.RemoveOf(2, out key);
        key.Fill(1);
        byte[] item = WorkQueueMachine.EnqueueOf(1, 10, 3, out _);
        byte[] forget = Operation.Create(Operation.Forget, bodyBytes: 0);
        return
        [
            .. Of(0, "dictionary", [(0, set), (1, update), (2, Operation.Create(DictionaryMachine.Synchronize, 0)), (1, remove)]),
            .. Of(1, "lock", [(0, Operation.Create(LockMachine.Acquire, 0)), (1, Operation.Create(LockMachine.Acquire, 0)),
                (2, Operation.Create(LockMachine.TryAcquire, 0)), (0, LockMachine.ReleaseOf(1)), (1, forget)]),
            .. Of(2, "leader", [(0, forget)]),
            .. Of(3, "barrier", [(0, BarrierMachine.ArriveOf(2)), (0, BarrierMachine.WithdrawOf(1)), (1, BarrierMachine.ArriveOf(3)),
                (2, BarrierMachine.ArriveOf(2))]),
            .. Of(4, "queue", [(0, item), (1, WorkQueueMachine.WorkOf(2)), (0, item), (0, item), (1, WorkQueueMachine.DoneOf(1, 1)),
                (1, WorkQueueMachine.FailOf(2, 1, "no")), (2, forget)]),
        ];
    }

    public override void Run(ReadOnlySpan<byte> input)
    {
        if (input is not [var first, .. var rest] || (first & ~IsState) >= Machines.Length)
        {
            return;
        }

        var make = Machines[first & ~IsState];
        if ((first & IsState) != 0)
        {
            RunState(make, rest);
        }
        else
        {
            RunOperations(make, rest);
        }
    }

    private static void RunState(Func<Machine> make, ReadOnlySpan<byte> state)
    {
        var machine = make();
        if (!machine.TryRead(state))
        {
            return;
        }

        CheckCopy(make, machine);
        // Whatever it holds, it must bear what comes next.
        var answers = new List<Answer>();
        machine.OnView(ViewOf(machine.View), answers);
        CheckCopy(make, machine);
    }

    private static void RunOperations(Func<Machine> make, ReadOnlySpan<byte> input)
    {
        var machine = make();
        var answers = new List<Answer>();
        machine.OnView(ViewOf(number: 7), answers);
        while (input is [var sender, var low, var high, .. var rest])
        {
            int length = Math.Min(low | (high << 8), rest.Length);
            var node = Members[sender % Members.Length];
            machine.Apply(new NodeId(node.Id, node.Incarnation), Codec.Read(rest[..length]).Span, answers);
            input = rest[length..];
        }

        CheckCopy(make, machine);
    }

    // Views of a member follow each other.
    private static GroupView ViewOf(long number) => new("group", new MemberView
    {
        TopicId = 1,
        Configuration = number,
        Members = [.. Members],
        Joined = [.. Members],
        Left = [],
    });

    private static void CheckCopy(Func<Machine> make, Machine machine)
    {
        var copy = make();
        byte[] written = Write(machine);
        FindingException.ThrowUnless(copy.TryRead(written), "What was written cannot be read.");
        FindingException.ThrowUnless(Write(copy).AsSpan().SequenceEqual(written), "What was read and written is read differently.");
    }

    private static byte[] Write(Machine machine)
    {
        var writer = new ArrayBufferWriter<byte>();
        machine.Write(writer);
        return writer.WrittenSpan.ToArray();
    }

    private static Seed[] Of(byte tool, string name, (byte Sender, byte[] Message)[] operations)
    {
        var bytes = new List<byte> { tool };
        var machine = Machines[tool]();
        var answers = new List<Answer>();
        machine.OnView(ViewOf(number: 7), answers);
        for (int i = 0; i < operations.Length; i++)
        {
            var (sender, message) = operations[i];
            byte[] numbered = [.. message];
            Operation.SetNumber(numbered, i + 1);
            bytes.AddRange([sender, (byte)numbered.Length, (byte)(numbered.Length >> 8), .. numbered]);
            var node = Members[sender];
            machine.Apply(new NodeId(node.Id, node.Incarnation), numbered, answers);
        }

        return [new($"{name}operations", [.. bytes]), new($"{name}state", [(byte)(tool | IsState), .. Write(machine)])];
    }
}

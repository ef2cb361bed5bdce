using System.Text;
using QuickSilver.Generators.Tests.Contracts;
using QuickSilver.Serialization;
using QuickSilver.Serialization.Protobuf;
using QuickSilver.Serialization.Protobuf.Times;

namespace QuickSilver.Fuzz.Payloads;

// Payloads, read by generated codecs and by those of plain payloads. The first byte of the input chooses the contract. What was read is
// written and read again.
internal sealed class PayloadTarget : FuzzTarget
{
    public override string Name => "payloads";

    public override IReadOnlyList<Type> Decoders { get; } =
    [
        typeof(ProtobufReader), typeof(ScaledTicks), typeof(ProtobufDotNetTypes), typeof(StringCodec), typeof(ByteArrayCodec),
        typeof(MemoryCodec),
    ];

    public override IEnumerable<Seed> Seeds() => ContractCase.All.SelectMany(static (one, index) => one.Seeds
        .Select((bytes, at) => new Seed($"{one.Name}-{at}", [(byte)index, .. bytes])));

    public override void Run(ReadOnlySpan<byte> input)
    {
        if (!input.IsEmpty && input[0] < ContractCase.All.Count)
        {
            ContractCase.All[input[0]].Read(input[1..]);
        }
    }
}

// A contract, and values of it.
internal abstract class ContractCase(string name)
{
    public static IReadOnlyList<ContractCase> All { get; } =
    [
        new ContractCase<Scalars>(
            "scalars",
            new Scalars(1, -2, 3, 4, 5, 6, 7, -8, 'x', true, 1.5f, 2.5, "text", [1, 2], new byte[] { 3 }, Color.Green, Wide.Far)),
        new ContractCase<Optionals>("optionals", new Optionals { Int32 = 0, Precise = 1, Text = "", Point = new Point(1, 2) }),
        new ContractCase<Collections>(
            "collections",
            new Collections
            {
                List = [1, 2],
                Array = [3, -4],
                ReadOnly = [0.5],
                Flags = [true],
                Texts = ["a", ""],
                Blobs = [[1], []],
                Points = [new Point(1, 2)],
                Colors = [Color.Red],
                Letters = ['x'],
                Trees = [new Tree { Name = "leaf" }],
            }),
        new ContractCase<NotNullable>("notnullable", new NotNullable("a", [1], ["b"], new Uri("http://host/page"), new Tree(), null)),
        new ContractCase<NullableCollections>("nullable", new NullableCollections { Numbers = [1], Names = new() { [1] = "one" } }),
        new ContractCase<Maps>(
            "maps",
            new Maps { Numbers = { ["a"] = 1 }, Names = { [2] = "b" }, Points = { [3] = new Point(1, 1) }, Rates = { [true] = 0.5 } }),
        new ContractCase<Tree>(
            "tree", new Tree { Name = "root", Children = [new Tree { Name = "leaf", Twin = new Tree() }], Twin = new Tree() }),
        new ContractCase<Times>(
            "times",
            new Times(
                12.5m,
                new Guid(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11),
                DateTime.UnixEpoch,
                DateTimeOffset.UnixEpoch,
                TimeSpan.FromDays(2))
            {
                MaybeAt = DateTime.MaxValue,
                MaybeTook = TimeSpan.MinValue,
                Prices = [decimal.MaxValue, -0.1m],
                Delays = new() { ["a"] = TimeSpan.FromTicks(1) },
            }),
        new ContractCase<Converted>(
            "converted", new Converted(new DateOnly(2026, 1, 2), new TimeOnly(3, 4), (Half)0.5, new Uri("a", UriKind.Relative), -1, 1)),
        new ContractCase<Sets>(
            "sets",
            new Sets { Names = ["a", "b"], Shares = [(Half)1], Points = [new Point(1, 2)], Times = [new TimeOnly(1)] }),
        new ContractCase<Ledger>(
            "ledger",
            new Ledger
            {
                Last = new Transfer("a", "b", new Deposit("c", 5)),
                All = [new Fee("d") { Version = 2 }],
                ByName = { ["e"] = new Deposit("f", 1) },
                Figures = [new Circle(1), new Square { Side = 2 }],
            }),
        new ContractCase<Older.ISignal>("signal", new Older.Start(1)),
        new ContractCase<VersionTwo>("versions", new VersionTwo("a", 1, [new Point(1, 2)])),
        new ContractCase<string>("string", "text"),
        new ContractCase<byte[]>("bytes", Encoding.UTF8.GetBytes("bytes")),
        new ContractCase<ReadOnlyMemory<byte>>("memory", Encoding.UTF8.GetBytes("memory")),
    ];

    public string Name { get; } = name;

    public abstract PayloadSchema Schema { get; }

    public abstract IEnumerable<byte[]> Seeds { get; }

    public abstract void Read(ReadOnlySpan<byte> payload);
}

internal sealed class ContractCase<T>(string name, params T[] values) : ContractCase(name)
{
    private static readonly IPayloadCodec<T> Codec = Codecs.Of<T>();

    public override PayloadSchema Schema => Codec.Schema;

    public override IEnumerable<byte[]> Seeds => values.Select(static value => Codecs.Write(Codec, value));

    public override void Read(ReadOnlySpan<byte> payload)
    {
        T value;
        try
        {
            value = Codec.Read(payload);
        }
        catch (PayloadFormatException)
        {
            return;
        }

        Codecs.SameAgain(Codec, value);
    }
}

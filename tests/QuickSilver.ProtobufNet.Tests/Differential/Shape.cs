using Google.Protobuf;
using QuickSilver.Serialization;
using QuickSilver.Serialization.Generated;

namespace QuickSilver.ProtobufNet.Tests.Differential;

// A contract, with what each library makes of bytes: the value as the generated codec writes it, or a refusal. So outcomes can be compared
// as texts, and none is judged by itself.
internal abstract class Shape(string name)
{
    public const string Refused = "refused";

    public static readonly IReadOnlyList<Shape> All =
    [
        Of<Shapes.Singles, Twins.Singles>(Twins.Singles.Parser),
        Of<Shapes.Nullables, Twins.Nullables>(Twins.Nullables.Parser),
        Of<Shapes.Lists, Twins.Lists>(Twins.Lists.Parser),
        Of<Shapes.Collections, Twins.Collections>(Twins.Collections.Parser),
        Of<Shapes.Maps, Twins.Maps>(Twins.Maps.Parser),
        Of<Shapes.Branch, Twins.Branch>(Twins.Branch.Parser),
        Of<Shapes.BclMaps, Twins.Leaf>(null),
    ];

    public string Name => name;

    /// <param name="chance">What decides.</param>
    /// <param name="isPart">Whether it becomes one value with another one.</param>
    public abstract object Value(Random chance, bool isPart = false);

    public abstract byte[] Write(object value);

    public abstract byte[] WriteByProtobufNet(object value);

    /// <summary>The bytes that Google's library writes of what it reads.</summary>
    public abstract byte[] Rewritten(byte[] bytes);

    public abstract string Read(byte[] bytes);

    public abstract string ReadByProtobufNet(byte[] bytes);

    /// <summary>Why protobuf-net refuses bytes.</summary>
    public abstract string? RefusalByProtobufNet(byte[] bytes);

    public abstract string ReadByGoogle(byte[] bytes);

    private static TypedShape<T, TTwin> Of<T, TTwin>(MessageParser<TTwin>? parser)
        where T : class
        where TTwin : IMessage<TTwin> => new(parser);

    private sealed class TypedShape<T, TTwin> : Shape
        where T : class
        where TTwin : IMessage<TTwin>
    {
        private readonly IPayloadCodec<T> _generated;
        private readonly ProtobufNetCodec<T> _adapter = new();
        private readonly MessageParser<TTwin>? _parser;

        public TypedShape(MessageParser<TTwin>? parser)
            : base(typeof(T).Name)
        {
            Assert.True(GeneratedCodecs.TryGet<T>(out var generated));
            _generated = generated!;
            _parser = parser?.WithDiscardUnknownFields(true);
        }

        public override object Value(Random chance, bool isPart = false) => new ShapeValues(chance, isPart).Of(typeof(T));

        public override byte[] Write(object value) => Encode(_generated, (T)value);

        public override byte[] WriteByProtobufNet(object value) => Encode(_adapter, (T)value);

        public override byte[] Rewritten(byte[] bytes) => _parser is null ? bytes : _parser.ParseFrom(bytes).ToByteArray();

        public override string Read(byte[] bytes) => Outcome(bytes, _generated.Read);

        public override string ReadByProtobufNet(byte[] bytes) => Outcome(bytes, _adapter.Read);

        public override string? RefusalByProtobufNet(byte[] bytes) =>
            Record.Exception(() => _adapter.Read(bytes)) is { } refusal ? refusal.InnerException?.ToString() ?? refusal.Message : null;

        public override string ReadByGoogle(byte[] bytes)
        {
            byte[] rewritten;
            try
            {
                rewritten = Rewritten(bytes);
            }
            catch (InvalidProtocolBufferException)
            {
                return Refused;
            }

            return Read(rewritten);
        }

        private string Outcome(byte[] bytes, Reader read)
        {
            try
            {
                return Convert.ToHexString(Encode(_generated, read(bytes)));
            }
            catch (PayloadFormatException)
            {
                return Refused;
            }
            catch (InvalidOperationException)
            {
                return "deeper than the generated codec writes";
            }
        }

        private static byte[] Encode(IPayloadCodec<T> codec, T value)
        {
            byte[] bytes = new byte[codec.GetSize(in value)];
            Assert.Equal(bytes.Length, codec.Write(in value, bytes));
            return bytes;
        }

        private delegate T Reader(ReadOnlySpan<byte> bytes);
    }
}

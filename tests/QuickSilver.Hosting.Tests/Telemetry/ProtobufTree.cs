using System.Buffers.Binary;
using System.Text;

namespace QuickSilver.Hosting.Tests.Telemetry;

// A message in protobuf's wire format whose schema the reader knows by heart: its fields by number.
internal sealed class ProtobufTree
{
    private readonly Dictionary<int, List<(ulong Number, byte[] Bytes)>> _fields = [];

    private ProtobufTree()
    {
    }

    public static ProtobufTree Read(ReadOnlySpan<byte> source)
    {
        var tree = new ProtobufTree();
        while (!source.IsEmpty)
        {
            ulong tag = Varint(ref source);
            var value = (tag & 7) switch
            {
                0 => (Varint(ref source), []),
                1 => (BinaryPrimitives.ReadUInt64LittleEndian(Take(ref source, 8)), []),
                2 => (0UL, Take(ref source, (int)Varint(ref source)).ToArray()),
                5 => (BinaryPrimitives.ReadUInt32LittleEndian(Take(ref source, 4)), []),
                var other => throw new FormatException($"The wire type {other} is not one of proto3."),
            };
            int field = (int)(tag >> 3);
            if (!tree._fields.TryGetValue(field, out var values))
            {
                tree._fields.Add(field, values = []);
            }

            values.Add(value);
        }

        return tree;
    }

    public bool Has(int field) => _fields.ContainsKey(field);

    public IEnumerable<ProtobufTree> Each(int field) => Values(field).Select(static one => Read(one.Bytes));

    public ProtobufTree? One(int field) => Each(field).SingleOrDefault();

    public string Text(int field) => Encoding.UTF8.GetString(Values(field).SingleOrDefault().Bytes ?? []);

    public string Hex(int field) => Convert.ToHexString(Values(field).SingleOrDefault().Bytes ?? []);

    public ulong Number(int field) => Values(field).SingleOrDefault().Number;

    private List<(ulong Number, byte[] Bytes)> Values(int field) => _fields.GetValueOrDefault(field) ?? [];

    private static ReadOnlySpan<byte> Take(ref ReadOnlySpan<byte> source, int bytes)
    {
        var taken = source[..bytes];
        source = source[bytes..];
        return taken;
    }

    private static ulong Varint(ref ReadOnlySpan<byte> source)
    {
        ulong value = 0;
        for (int shift = 0; ; shift += 7)
        {
            byte next = Take(ref source, 1)[0];
            value |= (ulong)(next & 0x7F) << shift;
            if (next < 0x80)
            {
                return value;
            }
        }
    }
}

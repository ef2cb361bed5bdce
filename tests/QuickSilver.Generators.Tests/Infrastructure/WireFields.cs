namespace QuickSilver.Generators.Tests.Infrastructure;

// A message's fields as they lie on the wire, to be put in another order and among others.
internal static class WireFields
{
    /// <summary>Each field with its tag, read by nothing that the codecs use.</summary>
    public static List<(ulong Tag, byte[] Bytes)> Split(byte[] message)
    {
        var fields = new List<(ulong, byte[])>();
        for (int start = 0, at = 0; at < message.Length; start = at)
        {
            ulong tag = Varint(message, ref at);
            switch (tag & 7)
            {
                case 0:
                    Varint(message, ref at);
                    break;
                case 1:
                    at += 8;
                    break;
                case 2:
                    ulong length = Varint(message, ref at);
                    at += (int)length;
                    break;
                default:
                    at += 4;
                    break;
            }

            fields.Add((tag, message[start..at]));
        }

        return fields;
    }

    /// <summary>In an order by chance, but for fields with the same tag, whose order is their meaning.</summary>
    public static byte[] Shuffled(byte[] message, Random chance)
    {
        var fields = Split(message);
        var inOrder = fields.ToLookup(field => field.Tag, field => field.Bytes)
            .ToDictionary(same => same.Key, same => new Queue<byte[]>(same));
        ulong[] order = [.. fields.Select(field => field.Tag)];
        chance.Shuffle(order);
        return [.. order.SelectMany(tag => inOrder[tag].Dequeue())];
    }

    /// <summary>With fields that no contract here has, of every wire type, before, between and behind its own.</summary>
    public static byte[] AmongUnknown(byte[] message, Random chance) =>
        [.. Unknown(chance), .. Split(message).SelectMany(field => field.Bytes.Concat(Unknown(chance)))];

    private static byte[] Unknown(Random chance) => chance.Next(8) switch
    {
        // Numbers 29, 30 and 31 (tags of two bytes), and 4000 (three).
        0 => [0xE8, 0x01, 0x96, 0x01],
        1 => [0xF1, 0x01, 1, 2, 3, 4, 5, 6, 7, 8],
        2 => [0xF2, 0x01, 3, 0xFF, 0xFF, 0xFF],
        3 => [0xF5, 0x01, 1, 2, 3, 4],
        4 => [0xFB, 0x01, 8, 1, 0xFC, 0x01],
        5 => [0x80, 0xFA, 0x01, 0],
        _ => [],
    };

    private static ulong Varint(byte[] message, ref int at)
    {
        ulong value = 0;
        int shift = 0;
        do
        {
            value |= (ulong)(message[at] & 0x7F) << shift;
            shift += 7;
        }
        while (message[at++] >= 0x80);
        return value;
    }
}

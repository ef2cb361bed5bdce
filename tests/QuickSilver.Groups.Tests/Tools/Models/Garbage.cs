using QuickSilver.Groups.Tools.Replicas;

namespace QuickSilver.Groups.Tests.Tools.Models;

// Bytes that other members may send: random ones, and operations that were damaged.
internal static class Garbage
{
    public static byte[] Of(Random random, byte kinds, IReadOnlyList<byte[]> valid)
    {
        byte[] bytes;
        if (valid.Count > 0 && random.Next(2) == 0)
        {
            bytes = [.. valid[random.Next(valid.Count)]];
            bytes = random.Next(3) switch
            {
                0 => bytes[..random.Next(bytes.Length)],
                1 => [.. bytes, .. Random(random, 1 + random.Next(8))],
                _ => bytes,
            };
            if (bytes.Length > 0)
            {
                bytes[random.Next(bytes.Length)] ^= (byte)(1 << random.Next(8));
            }

            return bytes;
        }

        bytes = Random(random, random.Next(40));
        if (bytes.Length > 8)
        {
            bytes[0] = (byte)random.Next(kinds + 2);
            Operation.SetNumber(bytes, random.Next(3) == 0 ? random.NextInt64() : random.Next(100));
        }

        return bytes;
    }

    /// <summary>Bytes that are no operation, whatever the kind: too short, or of an unknown kind.</summary>
    public static byte[] Malformed(Random random)
    {
        byte[] bytes = Random(random, random.Next(30));
        if (bytes.Length > 8)
        {
            bytes[0] = (byte)(200 + random.Next(50));
        }

        return bytes;
    }

    private static byte[] Random(Random random, int count)
    {
        byte[] bytes = new byte[count];
        random.NextBytes(bytes);
        return bytes;
    }
}

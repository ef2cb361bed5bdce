using System.Buffers.Binary;

namespace QuickSilver.Fuzz.Live;

// An input of several parts, each with two bytes that say what to do with it: u8, u8, u16 length, bytes. The last part may be cut.
internal ref struct InputParts(ReadOnlySpan<byte> input)
{
    private const int HeadBytes = 4;

    private ReadOnlySpan<byte> _rest = input;

    public byte First { get; private set; }

    public byte Second { get; private set; }

    public ReadOnlySpan<byte> Bytes { get; private set; }

    public bool MoveNext()
    {
        if (_rest.Length < HeadBytes)
        {
            return false;
        }

        First = _rest[0];
        Second = _rest[1];
        int length = Math.Min(BinaryPrimitives.ReadUInt16LittleEndian(_rest[2..]), _rest.Length - HeadBytes);
        Bytes = _rest.Slice(HeadBytes, length);
        _rest = _rest[(HeadBytes + length)..];
        return true;
    }

    public static byte[] Write(params (byte First, byte Second, byte[] Bytes)[] parts)
    {
        var all = new List<byte>();
        foreach (var (first, second, bytes) in parts)
        {
            all.AddRange([first, second, (byte)bytes.Length, (byte)(bytes.Length >> 8)]);
            all.AddRange(bytes);
        }

        return [.. all];
    }
}

using System.Buffers.Binary;
using QuickSilver.Membership.Views;

namespace QuickSilver.Tool.Doctor.Facts.Probes;

internal enum DoctorKind : byte
{
    Probe = 1,
    Answer = 2,
}

// A word between two doctors, little-endian. A probe is as long as both its answers, of which one goes to the group: the rest of it is 0.
//   0  magic "QSDR"   4  kind   5  1 if the probe went to the group   6  1 if this answer goes to the group
//   8  hash of the cluster's name                                    16  nonce of the probe
internal readonly record struct DoctorDatagram(DoctorKind Kind, bool IsOfGroup, bool IsToGroup, ulong Nonce)
{
    public const int ProbeBytes = 2 * Bytes;
    private const int Bytes = 64;
    private const uint Magic = 0x52445351;

    public byte[] Write(string cluster)
    {
        byte[] bytes = new byte[Kind == DoctorKind.Probe ? ProbeBytes : Bytes];
        BinaryPrimitives.WriteUInt32LittleEndian(bytes, Magic);
        bytes[4] = (byte)Kind;
        bytes[5] = IsOfGroup ? (byte)1 : (byte)0;
        bytes[6] = IsToGroup ? (byte)1 : (byte)0;
        BinaryPrimitives.WriteUInt64LittleEndian(bytes.AsSpan(8), TopicId.Of(cluster));
        BinaryPrimitives.WriteUInt64LittleEndian(bytes.AsSpan(16), Nonce);
        return bytes;
    }

    /// <summary>Null if it is no word of a doctor, or of another cluster.</summary>
    public static DoctorDatagram? Read(ReadOnlySpan<byte> bytes, string cluster) =>
        bytes.Length >= Bytes
        && BinaryPrimitives.ReadUInt32LittleEndian(bytes) == Magic
        && bytes[4] is (byte)DoctorKind.Probe or (byte)DoctorKind.Answer
        && BinaryPrimitives.ReadUInt64LittleEndian(bytes[8..]) == TopicId.Of(cluster)
            ? new DoctorDatagram(
                (DoctorKind)bytes[4], bytes[5] != 0, bytes[6] != 0, BinaryPrimitives.ReadUInt64LittleEndian(bytes[16..]))
            : null;
}

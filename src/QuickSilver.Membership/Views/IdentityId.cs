using System.Buffers.Binary;
using System.Security.Cryptography;
using System.Text;

namespace QuickSilver.Membership.Views;

// Identities as configurations contain them: the beginning of a hash of the name, so that no peer can choose a name for the number of
// another. None for a node without one.
internal static class IdentityId
{
    public const ulong None = 0;

    public static ulong Of(string? identity) => string.IsNullOrEmpty(identity)
        ? None
        : BinaryPrimitives.ReadUInt64LittleEndian(SHA256.HashData(Encoding.UTF8.GetBytes(identity))) | 1;
}

using System.Buffers.Binary;
using System.Security.Cryptography;
using QuickSilver.Core.Environment;

namespace QuickSilver.Membership.Views;

// Proves to a service that a node's key is its own. All members know the keys of all nodes, and a service that has just begun to lead knows
// none of them. So the first to come could impersonate another node. With security, the id in a key is therefore derived from the hash of
// random bytes that a node sends to its service alone.
internal static class NodeProof
{
    public const int Bytes = 32;

    public static byte[] Make(INodeEnvironment environment)
    {
        byte[] proof = new byte[Bytes];
        environment.FillSecret(proof);
        return proof;
    }

    public static ulong IdOf(ReadOnlySpan<byte> proof)
    {
        Span<byte> hash = stackalloc byte[SHA256.HashSizeInBytes];
        SHA256.HashData(proof, hash);
        return BinaryPrimitives.ReadUInt64LittleEndian(hash);
    }

    /// <summary>Whether this is the proof of the key. A key that was drawn without a proof has none.</summary>
    public static bool Holds(ReadOnlySpan<byte> proof, NodeKey node) => proof.Length == Bytes && IdOf(proof) == node.Id;
}

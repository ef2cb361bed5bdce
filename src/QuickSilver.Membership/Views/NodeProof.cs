using System.Buffers.Binary;
using System.Security.Cryptography;
using QuickSilver.Core.Environment;

namespace QuickSilver.Membership.Views;

// Shows a service that a node's key is its own. All members are told the keys of all nodes, and a service that has just begun to lead
// knows none of them, so whoever came first could go on as another node. With security, the id in a key is therefore taken from the hash
// of random bytes that a node tells to its service alone.
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

    /// <summary>Whether this is the proof of the key. Nobody has one of a key that was drawn without.</summary>
    public static bool Holds(ReadOnlySpan<byte> proof, NodeKey node) => proof.Length == Bytes && IdOf(proof) == node.Id;
}

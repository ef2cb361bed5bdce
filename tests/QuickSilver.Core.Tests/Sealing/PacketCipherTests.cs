using System.Runtime.InteropServices;
using FsCheck;
using FsCheck.Fluent;
using QuickSilver.Core.Sealing;
using QuickSilver.Core.Tests.Infrastructure;

namespace QuickSilver.Core.Tests.Sealing;

public sealed partial class PacketCipherTests
{
    private const string Framework = "framework";
    private const string OpenSsl = "openssl";

    private static readonly byte[] Key = [.. Enumerable.Range(1, SecretKey.Bytes).Select(static number => (byte)number)];
    private static readonly byte[] Nonce = [.. Enumerable.Range(50, PacketCipher.NonceBytes).Select(static number => (byte)number)];


    public static TheoryData<string> All => OpenSslLibrary.Instance is null ? [Framework] : [Framework, OpenSsl];

    [Fact]
    public void Both_ciphers_compute_the_same_and_decrypt_what_the_other_encrypted()
    {
        Assert.SkipWhen(OpenSslLibrary.Instance is null, "The framework's OpenSSL is not called by itself on this machine.");
        Prop.ForAll(
            Bytes(9_000).ToArbitrary(),
            Bytes(300).ToArbitrary(),
            Bytes(SecretKey.Bytes, exactly: true).ToArbitrary(),
            (body, header, key) =>
            {
                using var framework = new PlatformCipher(key);
                using var direct = new OpenSslCipher(OpenSslLibrary.Instance!, key);
                var one = Encrypt(framework, body, header);
                var other = Encrypt(direct, body, header);
                return one.Body.SequenceEqual(other.Body) && one.Tag.SequenceEqual(other.Tag)
                    && direct.TryDecrypt(Nonce, one.Body, one.Tag, header) && one.Body.SequenceEqual(body)
                    && framework.TryDecrypt(Nonce, other.Body, other.Tag, header) && other.Body.SequenceEqual(body);
            }).QuickCheckThrowOnFailure();
    }

    // NIST's gcmEncryptExtIV256.rsp: a key of 256 bits, 128 bits of text, 128 bits of associated data.
    [Theory]
    [MemberData(nameof(All))]
    public void A_cipher_computes_what_the_standard_says(string name)
    {
        using var cipher = Create(name, Convert.FromHexString("92e11dcdaa866f5ce790fd24501f92509aacf4cb8b1339d50c9c1240935dd08b"));
        byte[] nonce = Convert.FromHexString("ac93a1a6145299bde902f21a");
        byte[] body = Convert.FromHexString("2d71bcfa914e4ac045b2aa60955fad24"), tag = new byte[SealedPacket.TagBytes];
        cipher.Encrypt(nonce, body, body, tag, Convert.FromHexString("1e0889016f67601c8ebea4943bc23ad6"));
        Assert.Equal("8995ae2e6df3dbf96fac7b7137bae67f", Convert.ToHexStringLower(body));
        Assert.Equal("eca5aa77d51d4a0a14d9c51e1da474ab", Convert.ToHexStringLower(tag));
    }

    [Theory]
    [MemberData(nameof(All))]
    public void A_cipher_takes_turns_at_encrypting_and_decrypting_and_after_a_forgery(string name)
    {
        using var cipher = Create(name, Key);
        byte[] body = new byte[1000], header = [1, 2, 3];
        for (int turn = 0; turn < 3; turn++)
        {
            var (encrypted, tag) = Encrypt(cipher, body, header);
            var forged = (byte[])encrypted.Clone();
            forged[turn] ^= 1;
            Assert.False(cipher.TryDecrypt(Nonce, forged, tag, header));
            Assert.True(cipher.TryDecrypt(Nonce, encrypted, tag, header));
            Assert.Equal(body, encrypted);
        }
    }

    [Theory]
    [MemberData(nameof(All))]
    public void A_forged_packet_is_refused_and_nothing_of_it_stays(string name)
    {
        using var cipher = Create(name, Key);
        byte[] body = new byte[100], header = [1, 2, 3];
        body.AsSpan().Fill(7);
        var (encrypted, tag) = Encrypt(cipher, body, header);
        foreach (byte[] part in new[] { encrypted, tag, header })
        {
            part[^1] ^= 1;
            var received = (byte[])encrypted.Clone();
            Assert.False(cipher.TryDecrypt(Nonce, received, tag, header));
            Assert.Equal(new byte[body.Length], received);
            part[^1] ^= 1;
        }

        Assert.True(cipher.TryDecrypt(Nonce, encrypted, tag, header));
    }

    [Fact]
    public void A_forgery_costs_no_memory_and_leaves_no_error_to_others()
    {
        Assert.SkipWhen(OpenSslLibrary.Instance is null, "The framework's OpenSSL is not called by itself on this machine.");
        using var cipher = new OpenSslCipher(OpenSslLibrary.Instance, Key);
        byte[] body = new byte[1000], tag = new byte[SealedPacket.TagBytes];
        Assert.Equal(0, Allocations.After(() => Assert.False(cipher.TryDecrypt(Nonce, body, tag, []))));
        Assert.Equal(0, ERR_peek_error());
    }

    [Theory]
    [MemberData(nameof(All))]
    public void A_cipher_that_was_disposed_says_so(string name)
    {
        var cipher = Create(name, Key);
        cipher.Dispose();
        cipher.Dispose();
        Assert.Throws<ObjectDisposedException>(() => Encrypt(cipher, [1], []));
        Assert.Throws<ObjectDisposedException>(() => cipher.TryDecrypt(Nonce, new byte[1], new byte[SealedPacket.TagBytes], []));
    }

    [Theory]
    [MemberData(nameof(All))]
    public void Wrong_sizes_reach_no_native_code(string name)
    {
        using var cipher = Create(name, Key);
        byte[] tag = new byte[SealedPacket.TagBytes];
        Assert.ThrowsAny<ArgumentException>(() => cipher.Encrypt(new byte[11], [1], new byte[1], tag, []));
        Assert.ThrowsAny<ArgumentException>(() => cipher.Encrypt(Nonce, [1], new byte[2], tag, []));
        Assert.ThrowsAny<ArgumentException>(() => cipher.Encrypt(Nonce, [1], new byte[1], new byte[17], []));
        Assert.ThrowsAny<ArgumentException>(() => cipher.TryDecrypt(Nonce, new byte[1], new byte[17], []));
        Assert.ThrowsAny<Exception>(() => Create(name, new byte[5]));
    }

    private static PacketCipher Create(string name, byte[] key) =>
        name == Framework ? new PlatformCipher(key) : new OpenSslCipher(OpenSslLibrary.Instance!, key);

    private static (byte[] Body, byte[] Tag) Encrypt(PacketCipher cipher, byte[] body, byte[] header)
    {
        byte[] into = new byte[body.Length], tag = new byte[SealedPacket.TagBytes];
        cipher.Encrypt(Nonce, body, into, tag, header);
        return (into, tag);
    }

    private static Gen<byte[]> Bytes(int most, bool exactly = false) =>
        from length in exactly ? Gen.Constant(most) : Gen.Frequency((1, Gen.Constant(0)), (5, Gen.Choose(1, 64)), (5, Gen.Choose(65, most)))
        from seed in Gen.Choose(0, int.MaxValue)
        select Filled(length, seed);

    private static byte[] Filled(int length, int seed)
    {
        byte[] bytes = new byte[length];
        new Random(seed).NextBytes(bytes);
        return bytes;
    }

    [LibraryImport("libcrypto.so.3")]
    private static partial long ERR_peek_error();
}

using System.Runtime.InteropServices;
using System.Security.Cryptography;

namespace QuickSilver.Core.Sealing;

// The functions of OpenSSL's libcrypto that a cipher needs.
//
// It is used only where it is the library that the framework itself has loaded, of the version whose interface is known, and where both
// compute the same from the same bytes. Keys are derived by the framework, so OpenSSL has always been initialized by it, in its way.
internal sealed unsafe class OpenSslLibrary
{
    public const int Encrypts = 1;
    public const int Decrypts = 0;

    // EVP_CTRL_AEAD_GET_TAG and EVP_CTRL_AEAD_SET_TAG.
    public const int GetTag = 0x10;
    public const int SetTag = 0x11;

    private const string Name = "libcrypto.so.3";

    // By which users make the framework load another one.
    private const string Override = "CLR_OPENSSL_VERSION_OVERRIDE";

    private readonly delegate* unmanaged<nint> _new;
    private readonly delegate* unmanaged<nint, void> _free;
    private readonly delegate* unmanaged<nint> _aes256Gcm;
    private readonly delegate* unmanaged<nint, nint, nint, byte*, byte*, int, int> _init;
    private readonly delegate* unmanaged<nint, byte*, int*, byte*, int, int> _update;
    private readonly delegate* unmanaged<nint, byte*, int*, int> _final;
    private readonly delegate* unmanaged<nint, int, int, byte*, int> _control;
    private readonly delegate* unmanaged<void> _clearErrors;

    private OpenSslLibrary(nint library)
    {
        _new = (delegate* unmanaged<nint>)NativeLibrary.GetExport(library, "EVP_CIPHER_CTX_new");
        _free = (delegate* unmanaged<nint, void>)NativeLibrary.GetExport(library, "EVP_CIPHER_CTX_free");
        _aes256Gcm = (delegate* unmanaged<nint>)NativeLibrary.GetExport(library, "EVP_aes_256_gcm");
        _init = (delegate* unmanaged<nint, nint, nint, byte*, byte*, int, int>)NativeLibrary.GetExport(library, "EVP_CipherInit_ex");
        _update = (delegate* unmanaged<nint, byte*, int*, byte*, int, int>)NativeLibrary.GetExport(library, "EVP_CipherUpdate");
        _final = (delegate* unmanaged<nint, byte*, int*, int>)NativeLibrary.GetExport(library, "EVP_CipherFinal_ex");
        _control = (delegate* unmanaged<nint, int, int, byte*, int>)NativeLibrary.GetExport(library, "EVP_CIPHER_CTX_ctrl");
        _clearErrors = (delegate* unmanaged<void>)NativeLibrary.GetExport(library, "ERR_clear_error");
    }

    /// <summary>Null: packets go through the framework's own class on this machine.</summary>
    public static OpenSslLibrary? Instance { get; } = Load();

    public nint NewContext() => _new();

    public void FreeContext(nint context) => _free(context);

    public nint Aes256Gcm() => _aes256Gcm();

    public int Init(nint context, nint cipher, byte* key, byte* nonce, int direction) =>
        _init(context, cipher, 0, key, nonce, direction);

    public int Update(nint context, byte* to, int* written, byte* from, int bytes) => _update(context, to, written, from, bytes);

    public int Final(nint context, byte* to, int* written) => _final(context, to, written);

    public int Control(nint context, int what, int bytes, byte* at) => _control(context, what, bytes, at);

    /// <summary>What others see in OpenSSL's list of errors of this thread is theirs.</summary>
    public void ClearErrors() => _clearErrors();

    private static OpenSslLibrary? Load()
    {
        if (!OperatingSystem.IsLinux() || !AesGcm.IsSupported || System.Environment.GetEnvironmentVariable(Override) is not null)
        {
            return null;
        }

        try
        {
            var library = new OpenSslLibrary(NativeLibrary.Load(Name));
            return ComputesTheSame(library) ? library : null;
        }
        catch (Exception unusable) when (unusable is DllNotFoundException or EntryPointNotFoundException or CryptographicException)
        {
            return null;
        }
    }

    private static bool ComputesTheSame(OpenSslLibrary library)
    {
        Span<byte> key = stackalloc byte[SecretKey.Bytes], nonce = stackalloc byte[PacketCipher.NonceBytes];
        Span<byte> plain = stackalloc byte[100], header = stackalloc byte[20];
        key.Fill(1);
        nonce.Fill(2);
        plain.Fill(3);
        header.Fill(4);
        Span<byte> expected = stackalloc byte[plain.Length + SealedPacket.TagBytes], actual = stackalloc byte[expected.Length];
        using var known = new PlatformCipher(key);
        using var tried = new OpenSslCipher(library, key);
        known.Encrypt(nonce, plain, expected[..plain.Length], expected[plain.Length..], header);
        tried.Encrypt(nonce, plain, actual[..plain.Length], actual[plain.Length..], header);
        return actual.SequenceEqual(expected)
            && tried.TryDecrypt(nonce, actual[..plain.Length], actual[plain.Length..], header)
            && actual[..plain.Length].SequenceEqual(plain);
    }
}

using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using QuickSilver.Core.Security.Identities;
using QuickSilver.Core.Tests.Infrastructure;
using QuickSilver.Core.Transport.Tls;

namespace QuickSilver.Core.Tests.Security.Identities;

public sealed class SecretTests
{
    private static readonly byte[] Key = [.. Enumerable.Range(0, 32).Select(static i => (byte)i)];

    [Fact]
    public void The_text_of_a_secret_is_read_as_the_same_secret()
    {
        var secret = Secret.Of("cluster-1", Key);
        Assert.True(Secret.TryParse($" {secret.Reveal()}\r", out var read, out _));
        Assert.Equal(secret.Name, read.Name);
        Assert.Equal(secret.Fingerprint, read.Fingerprint);
    }

    [Fact]
    public void One_secret_is_one_authority_in_each_process()
    {
        using var one = SecretAuthority.Of(Secret.Of("cluster", Key));
        using var again = SecretAuthority.Of(Secret.Of("cluster", Key));
        using var other = SecretAuthority.Of(Secret.Of("cluster", [.. Key.Select(static b => (byte)(b ^ 1))]));
        Assert.Equal(TlsCredentials.HashOf(one), TlsCredentials.HashOf(again));
        Assert.NotEqual(TlsCredentials.HashOf(one), TlsCredentials.HashOf(other));
        Assert.True(one.HasPrivateKey);
    }

    // A change of it would keep processes of two versions from understanding each other.
    [Fact]
    public void The_authority_of_a_secret_does_not_change()
    {
        using var authority = SecretAuthority.Of(Secret.Of("cluster", Key));
        Assert.StartsWith("ec4a3a43ce19e9cd22a8fd42f558d361f7a15c659", TlsCredentials.HashOf(authority));
    }

    // Of two processes, as each makes the certificate of the authority itself.
    [Theory]
    [InlineData(1970)]
    [InlineData(1999)]
    [InlineData(2050)]
    [InlineData(9999)]
    public void A_secret_is_accepted_whatever_the_clock_shows(int year)
    {
        var secret = Secret.Of("cluster", Key);
        var peer = TlsCredentials.Of([secret]);
        var clock = new DateTime(year, 1, 1, 0, 0, 0, DateTimeKind.Utc);
        using var chain = new X509Chain { ChainPolicy = TlsCredentials.Of([secret]).NewPolicy() };
        chain.ChainPolicy.VerificationTime = clock;
        Assert.True(chain.Build(peer.Own.TargetCertificate));
        Assert.True(peer.HoldsAt(clock));
    }

    [Theory]
    [InlineData("")]
    [InlineData("quicksilver-secret:x")]
    [InlineData("other-secret:x:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=")]
    [InlineData("quicksilver-secret::AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=")]
    [InlineData("quicksilver-secret:a b:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=")]
    [InlineData("quicksilver-secret:x:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHg==")]
    [InlineData("quicksilver-secret:x:not base64 at all, but it is long enough for a key")]
    public void A_malformed_secret_is_refused_without_being_shown(string text)
    {
        Assert.False(Secret.TryParse(text, out _, out string? fault));
        Assert.EndsWith(".", fault);
        Assert.DoesNotContain("AAECAw", fault);
        Assert.DoesNotContain("long enough", fault);
    }

    [Fact]
    public void Any_bytes_are_read_or_refused_and_never_shown() => Steps.HoldForBytes(static bytes =>
    {
        string text = $"quicksilver-secret:x:{Convert.ToBase64String(bytes)}";
        Assert.Equal(bytes.Length is >= Secret.LeastKeyBytes and <= Secret.MostKeyBytes, Secret.TryParse(text, out _, out _));
    }, longest: 300);

    // T14.
    [Fact]
    public void Nothing_of_a_secret_but_its_name_is_in_its_texts()
    {
        var secret = Secret.Of("cluster", RandomNumberGenerator.GetBytes(32));
        string key = secret.Reveal().Split(':')[2];
        var credentials = TlsCredentials.Of([secret]);
        string[] texts = [secret.ToString(), credentials.ToString(), credentials.TargetHost, $"{new FixedCredentials(credentials)}"];
        foreach (string text in texts)
        {
            Assert.DoesNotContain(key, text, StringComparison.Ordinal);
        }

        var failure = Assert.Throws<CredentialException>(() => CredentialFiles.OfSecrets($"x{secret.Reveal()}", "the variable QS_SECRET"));
        Assert.DoesNotContain(key, failure.ToString(), StringComparison.Ordinal);
        Assert.StartsWith("the variable QS_SECRET, line 1: ", failure.Message);
    }

    [Fact]
    public void A_secret_within_a_text_is_hidden_and_its_name_and_the_form_are_not()
    {
        string text = Secret.Of("prod", RandomNumberGenerator.GetBytes(32)).Reveal();
        string hidden = Secret.Hide($"The option is \"{text}\", and the file is {text} too.");
        Assert.Equal("The option is \"quicksilver-secret:prod:…\", and the file is quicksilver-secret:prod:… too.", hidden);
        Assert.Equal($"The form is {Secret.Form}.", Secret.Hide($"The form is {Secret.Form}."));
    }
}

using System.Security.Cryptography.X509Certificates;

namespace QuickSilver;

/// <summary>Whether a node is protected.</summary>
public enum SecurityMode
{
    /// <summary>
    /// The node is protected if it has a secret or a certificate. Without one, it runs on the loopback interface only: on any other, its
    /// start fails.
    /// </summary>
    Auto = 0,

    /// <summary>
    /// The node has no secret and no certificate, and says so. Caution: everyone who can reach the network can read all messages, publish,
    /// and take the place of the membership service.
    /// </summary>
    None = 1,
}

/// <summary>
/// How a node proves that it belongs to its cluster, and whom it trusts. Either a secret, which all processes of the cluster share, or a
/// certificate of an authority. All processes of a cluster use the same of the two.
/// </summary>
/// <remarks>
/// Files are read at start, and again when they have changed and a connection is made, at most once a second. So a secret is replaced
/// without a restart. The node takes a copy of the options when it starts, so a later change of the options has no effect.
/// </remarks>
public sealed class SecurityOptions
{
    /// <summary>
    /// Whether the node is protected. Default: <see cref="SecurityMode.Auto"/>, with a secret or a certificate, or on the loopback
    /// interface without. <see cref="SecurityMode.None"/> runs without protection on any interface, and is refused together with a secret
    /// or a certificate.
    /// </summary>
    public SecurityMode Mode { get; set; } = SecurityMode.Auto;

    /// <summary>
    /// The path of a file with a secret, as <c>qsm keys secret</c> writes it. Further lines can contain secrets that are accepted, too:
    /// the node connects with the first. Only the node's user should be able to read the file. Null (default): none.
    /// </summary>
    public string? SecretFile { get; set; }

    /// <summary>
    /// The name of the environment variable that contains a secret, or several with line breaks between, in place of
    /// <see cref="SecretFile"/>. Null (default): none.
    /// </summary>
    public string? SecretVariable { get; set; }

    /// <summary>
    /// The path of a PEM file with the certificate of this process, and after it those between it and its authority, if any. Its common
    /// name is the identity of the node. Its extended key usage is clientAuth for a node and serverAuth for a membership service; a node
    /// that may host the service needs both. Null (default): none.
    /// </summary>
    public string? CertificateFile { get; set; }

    /// <summary>
    /// The path of a PEM file with the private key of the certificate. Null (default): the key is in <see cref="CertificateFile"/>.
    /// </summary>
    public string? CertificateKeyFile { get; set; }

    /// <summary>
    /// The path of a PEM file with the trusted authorities. Those of the system are not trusted. Required with
    /// <see cref="CertificateFile"/>. Null (default): none.
    /// </summary>
    public string? AuthorityFile { get; set; }

    /// <summary>
    /// New options that say that the node is not protected (<see cref="SecurityMode.None"/>), for a network of trusted machines.
    /// </summary>
    public static SecurityOptions None => new() { Mode = SecurityMode.None };

    // Given by the program, in place of files.
    internal string? Secret { get; private set; }

    internal X509Certificate2? Certificate { get; private set; }

    internal X509Certificate2Collection? Authorities { get; private set; }

    internal bool HasSecret => SecretFile is not null || SecretVariable is not null || Secret is not null;

    internal bool HasCertificate => CertificateFile is not null || Certificate is not null;

    internal bool HasKey => HasSecret || HasCertificate;

    /// <summary>Uses a secret that the program has, for example from a vault, in place of <see cref="SecretFile"/>.</summary>
    /// <param name="secret">The text of the secret, or of several with line breaks between.</param>
    public void UseSecret(string secret)
    {
        ArgumentException.ThrowIfNullOrWhiteSpace(secret);
        Secret = secret;
    }

    /// <summary>Uses a certificate that the program has, in place of <see cref="CertificateFile"/>.</summary>
    /// <param name="certificate">The certificate of this process, with its private key.</param>
    /// <param name="authorities">The trusted authorities: at least one.</param>
    /// <exception cref="ArgumentException">The certificate has no private key, or there is no authority.</exception>
    public void UseCertificate(X509Certificate2 certificate, X509Certificate2Collection authorities)
    {
        ArgumentNullException.ThrowIfNull(certificate);
        ArgumentNullException.ThrowIfNull(authorities);
        if (!certificate.HasPrivateKey)
        {
            throw new ArgumentException("The certificate has no private key.", nameof(certificate));
        }

        if (authorities.Count == 0)
        {
            throw new ArgumentException("At least one authority is required.", nameof(authorities));
        }

        Certificate = certificate;
        Authorities = authorities;
    }

    /// <summary>A copy that shares no collection with this.</summary>
    internal SecurityOptions Copy()
    {
        var copy = (SecurityOptions)MemberwiseClone();
        copy.Authorities = Authorities is null ? null : [.. Authorities];
        return copy;
    }
}

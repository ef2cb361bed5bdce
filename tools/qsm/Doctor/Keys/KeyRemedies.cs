using System.Net;
using System.Net.Sockets;
using QuickSilver.Core.Transport;
using QuickSilver.Tool.Doctor.Checks;

namespace QuickSilver.Tool.Doctor.Keys;

// What is to be done, in words, and the commands for it.
internal sealed record KeyAdvice(string Text, params IReadOnlyList<Remedy> Remedies);

// Commands that name the keys of this host, or put others in their place.
internal static class KeyRemedies
{
    // The files of another host are not known by name.
    private const string TheirFile = "FILE";
    // What --authority of the service names.
    private const string TheirAuthority = "AUTHORITY";
    private const string UsualSecret = "cluster.secret";
    private const string Signer = "the host of the authority";
    private const string WhatTheirFileIs = $"{TheirFile} is what --security of the service names.";

    /// <summary>A service to which this host can connect with its key.</summary>
    public static KeyAdvice Start(KeyFacts keys, IPEndPoint service, string cluster)
    {
        string host = service.Address.ToString();
        string start = $"qsm gms --listen {ShellWord.Of($"{service}")} {ShellWord.Option("--cluster", cluster)}";
        string authority = $"--authority {ShellWord.OfFile(keys.Authority)}";
        return keys switch
        {
            { CanServe: false } => new KeyAdvice(
                " It needs a certificate for a service.",
                Certificate(keys, "gms", "service", "gms.pem"),
                new Remedy($"{start} --security gms.pem {authority}", host)),
            { Kind: KeyKind.Certificate } => With($"--security {ShellWord.OfFile(keys.File)} {authority}"),
            { Kind: KeyKind.Secret } => With($"--security {ShellWord.OfFile(keys.File)}"),
            { Kind: KeyKind.Unprotected } => With("--security none"),
            { Kind: KeyKind.Variable } => new KeyAdvice(" It reads the secret from QS_SECRET, too.", new Remedy(start, host)),
            _ => IPAddress.IsLoopback(service.Address) ? new KeyAdvice("", new Remedy(start, host)) : With($"--security {UsualSecret}"),
        };

        KeyAdvice With(string security) => new("", new Remedy($"{start} {security}", host));
    }

    /// <param name="fault">Not None.</param>
    /// <param name="keys">Of this host.</param>
    /// <param name="service">Null: its address is not known.</param>
    /// <param name="cluster">The name of the cluster.</param>
    public static KeyAdvice Of(KeyFault fault, KeyFacts keys, IPEndPoint? service, string cluster)
    {
        var show = new Remedy($"qsm keys show {TheirFile}", service?.Address.ToString() ?? "the host of the service");
        return fault switch
        {
            KeyFault.ServiceWithoutKey when service is not null => Start(keys, service, cluster),
            KeyFault.ServiceWithoutKey => new KeyAdvice(""),
            KeyFault.ClientWithoutKey => new KeyAdvice(
                $" {WhatTheirFileIs} If it shows a secret, copy it and name it with --security. If it shows certificates, make one for "
                + "this node with 'qsm keys certificate', and name it with --security and --authority.",
                show,
                Copy(service, TheirFile, UsualSecret),
                new Remedy($"export QuickSilver__Security__SecretFile={UsualSecret}", "every node")),
            KeyFault.OwnCertificate => new KeyAdvice(
                " Make another one and put it in its place.",
                Certificate(keys, keys.Name, keys.Role == "service" ? "both" : keys.Role, keys.File)),
            KeyFault.ServiceCertificate => new KeyAdvice(
                $" {WhatTheirFileIs} Make another one and put it in its place.", show, Certificate(keys, "gms", "service", "gms.pem")),
            // This host trusts the authority of the service, so that one is to sign.
            KeyFault.NotAccepted when keys.Kind == KeyKind.Certificate => new KeyAdvice(
                $" The authority in {keys.Authority} is that of the service: let it sign a certificate for this node.",
                new Remedy($"qsm keys show {ShellWord.OfFile(keys.File)}"),
                Certificate(keys, keys.Name, keys.Role, keys.File)),
            _ => OfStrangers(keys, service, show),
        };
    }

    /// <summary>Replaces a file that cannot be used.</summary>
    public static KeyAdvice Replace(KeyFacts keys, UnusableFile? file)
    {
        if (file is null)
        {
            return keys.Kind == KeyKind.Variable
                ? new KeyAdvice(
                    " It must have the text of a file that 'qsm keys secret' has made.",
                    new Remedy($"export QS_SECRET=\"$(cat {UsualSecret})\""))
                : new KeyAdvice("");
        }

        string path = ShellWord.OfFile(file.Path);
        return (file, keys.Kind) switch
        {
            ({ IsFolder: true }, _) => new KeyAdvice("", new Remedy($"ls {path}")),
            ({ ForbiddenTo: { } user }, _) => new KeyAdvice("", new Remedy($"chown {ShellWord.Of(user)} {path}")),
            // What is there may be of use, so no command makes a secret or an authority in its place.
            ({ Exists: true }, KeyKind.Secret) => new KeyAdvice(
                $" Copy the secret of the cluster to it. {WhatTheirFileIs}", Copy(service: null, TheirFile, file.Path)),
            ({ Exists: true, IsOfAuthority: true }, _) => new KeyAdvice(
                " Copy the certificate of the authority to it.", Copy(service: null, TheirAuthority, file.Path)),
            (_, KeyKind.Secret) => new KeyAdvice(
                " Copy the secret of the cluster to it. Only if the cluster has none yet, make one.",
                new Remedy($"qsm keys secret --out {path}")),
            ({ IsOfAuthority: true }, _) => new KeyAdvice(
                " Copy the certificate of the authority to it. Only if there is none yet, make one.",
                new Remedy($"qsm keys authority --out {path}")),
            _ => new KeyAdvice(
                " Make a certificate and put it in its place.",
                Certificate(keys, Path.GetFileNameWithoutExtension(file.Path), "node", file.Path)),
        };
    }

    private static KeyAdvice OfStrangers(KeyFacts keys, IPEndPoint? service, Remedy show)
    {
        return keys.Kind switch
        {
            KeyKind.Certificate => new KeyAdvice(
                $" Compare the issuers. {WhatTheirFileIs} If other nodes run, its issuer is the right one: let it sign a certificate for "
                + "this node, and trust it.",
                new Remedy($"qsm keys show {ShellWord.OfFile(keys.File)}"),
                show,
                // Not the authority of this host, wherever its key is.
                Certificate(keys with { SignsHere = false }, keys.Name, keys.Role, keys.File) with
                {
                    Where = "the host of the authority of the service",
                },
                Believe(service, keys.Authority)),
            KeyKind.Secret => new KeyAdvice(
                $" Compare the fingerprints. {WhatTheirFileIs} If other nodes run, it is the right one: copy it.",
                new Remedy($"qsm keys show {ShellWord.OfFile(keys.File)}"),
                show,
                Copy(service, TheirFile, keys.File)),
            _ => new KeyAdvice(
                $" {WhatTheirFileIs} If other nodes run, it is the right one: copy it, and use it instead of QS_SECRET.",
                show,
                Copy(service, TheirFile, UsualSecret),
                new Remedy($"unset QS_SECRET; export QS_SECURITY={UsualSecret}")),
        };
    }

    // Beside the trusted one: that may be of use to others.
    private static Remedy Believe(IPEndPoint? service, string own) => service is not null && IPAddress.IsLoopback(service.Address)
        ? new Remedy(Append($"cat {TheirAuthority}", own))
        : new Remedy(Append($"ssh {service?.Address.ToString() ?? "HOST"} cat {TheirAuthority}", own));

    /// <summary>
    /// Appends to a file what a command writes. The file is replaced as a whole, as processes may read it at any time, and keeps its owner
    /// and its mode.
    /// </summary>
    public static string Append(string command, string path)
    {
        string file = ShellWord.OfFile(path);
        string next = ShellWord.OfFile($"{path}.new");
        return $"cp -p {file} {next} && {command} >> {next} && mv {next} {file}";
    }

    private static Remedy Copy(IPEndPoint? service, string theirs, string own)
    {
        string to = ShellWord.OfFile(own);
        return service is null ? new Remedy($"scp HOST:{theirs} {to}")
            : IPAddress.IsLoopback(service.Address) ? new Remedy($"cp {theirs} {to}")
            : service.AddressFamily == AddressFamily.InterNetworkV6 ? new Remedy($"scp '[{service.Address}]:{theirs}' {to}")
            : new Remedy($"scp {service.Address}:{theirs} {to}");
    }

    // On another host, the file has no folder that is known, and is copied from there.
    private static Remedy Certificate(KeyFacts keys, string name, string role, string file)
    {
        string authority = keys.SignsHere ? ShellWord.OfFile(keys.Authority) : "authority.pem";
        string to = ShellWord.QuotedFile(keys.SignsHere ? file : Path.GetFileName(file));
        return new Remedy(
            $"qsm keys certificate --authority {authority} {ShellWord.Option("--name", name)} --role {role} --out {to} --force",
            keys.SignsHere ? null : Signer);
    }
}

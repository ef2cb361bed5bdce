using System.Diagnostics.CodeAnalysis;
using System.Net;
using System.Net.Sockets;

namespace QuickSilver;

/// <summary>
/// The network interface of a node: an IPv4 or IPv6 address, the name of an interface, a subnet, or <see cref="Auto"/>. It is resolved to
/// an address of this machine when the node starts. <see cref="NodeStatus.Interface"/> gives the result and the reason.
/// </summary>
public sealed record NodeInterface : IParsable<NodeInterface>
{
    private const string AutoText = "auto";
    private const int DottedParts = 4;

    private NodeInterface(IPAddress? address = null, string? name = null, IPNetwork? network = null) =>
        (Address, Name, Network) = (address, name, network);

    /// <summary>
    /// The interface that leads to <see cref="MembershipOptions.Servers"/>, if that is set. Otherwise, an interface that is up,
    /// carries multicast and has an IPv4 address, or if none has, an IPv6 address that is valid beyond the link; of several, one with a
    /// default gateway. If there is none, the loopback interface. An interface that is not loopback requires
    /// <see cref="QuickSilverOptions.Security"/>.
    /// </summary>
    public static NodeInterface Auto { get; } = new();

    /// <summary>The loopback interface, for programs on one machine: 127.0.0.1.</summary>
    public static NodeInterface Loopback { get; } = new(IPAddress.Loopback);

    /// <summary>The address; null if the interface is not given by an address.</summary>
    public IPAddress? Address { get; }

    /// <summary>The name of the interface, such as "eth0"; null if it is not given by its name.</summary>
    public string? Name { get; }

    /// <summary>The subnet that contains exactly one address of this machine; null if the interface is not given by a subnet.</summary>
    public IPNetwork? Network { get; }

    /// <summary>The family of its address, if the option says so much.</summary>
    internal AddressFamily? Family => (Address ?? Network?.BaseAddress)?.AddressFamily;

    internal bool IsAuto => Address is null && Name is null && Network is null;

    /// <summary>The interface with this address.</summary>
    /// <exception cref="ArgumentNullException">The address is null.</exception>
    public static implicit operator NodeInterface(IPAddress address) => FromAddress(address);

    /// <summary>The interface with this address. Whether it is an address of this machine is checked when the node starts.</summary>
    /// <exception cref="ArgumentNullException">The address is null.</exception>
    public static NodeInterface FromAddress(IPAddress address)
    {
        ArgumentNullException.ThrowIfNull(address);
        return new NodeInterface(address);
    }

    /// <summary>
    /// Reads "auto", an address ("10.0.0.5", "fe80::1%eth0"), a subnet ("10.0.0.0/8") or the name of an interface ("eth0").
    /// </summary>
    /// <param name="text">The text.</param>
    /// <param name="provider">Not used.</param>
    /// <exception cref="ArgumentNullException">The text is null.</exception>
    /// <exception cref="FormatException">The text is none of these. The message says why.</exception>
    public static NodeInterface Parse(string text, IFormatProvider? provider = null)
    {
        ArgumentNullException.ThrowIfNull(text);
        return Read(text, out string? fault) ?? throw new FormatException(fault);
    }

    /// <summary>Reads what <see cref="Parse"/> reads.</summary>
    /// <param name="text">The text.</param>
    /// <param name="provider">Not used.</param>
    /// <param name="result">The interface; null if the text is not valid.</param>
    public static bool TryParse(
        [NotNullWhen(true)] string? text, IFormatProvider? provider, [MaybeNullWhen(false)] out NodeInterface result)
    {
        result = text is null ? null : Read(text, out _);
        return result is not null;
    }

    /// <summary>The text that <see cref="Parse"/> reads.</summary>
    public override string ToString() => Address?.ToString() ?? Name ?? Network?.ToString() ?? AutoText;

    /// <summary>Null if the text is not valid, with the reason.</summary>
    internal static NodeInterface? Read(string text, out string? fault)
    {
        fault = null;
        string trimmed = text.Trim();
        if (trimmed.Equals(AutoText, StringComparison.OrdinalIgnoreCase))
        {
            return Auto;
        }

        if (trimmed.Contains('/', StringComparison.Ordinal))
        {
            return ReadNetwork(trimmed, out fault);
        }

        // "10" is an address of four bytes to the system's parser. Here it is a name.
        if (IPAddress.TryParse(trimmed, out var address)
            && (address.AddressFamily != AddressFamily.InterNetwork || trimmed.Split('.').Length == DottedParts))
        {
            return new NodeInterface(address);
        }

        if (trimmed.Length == 0 || trimmed.Any(char.IsControl))
        {
            fault = $"\"{text}\" is not an interface. Use an address, a name such as eth0, a subnet such as 10.0.0.0/8, or auto.";
            return null;
        }

        return new NodeInterface(name: trimmed);
    }

    private static NodeInterface? ReadNetwork(string text, out string? fault)
    {
        fault = null;
        if (IPNetwork.TryParse(text, out var network) && !network.BaseAddress.IsIPv6Multicast)
        {
            return new NodeInterface(network: network);
        }

        fault = $"\"{text}\" is not a subnet. Use an address and the length of a prefix, such as 10.0.0.0/8 or fd00::/64.";
        return null;
    }
}

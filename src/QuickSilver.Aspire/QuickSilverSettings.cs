namespace QuickSilver.Aspire;

/// <summary>
/// How a project of an Aspire application uses a cluster. Read from the section <c>Aspire:QuickSilver</c> of the configuration, and then
/// from the section in it that has the name of the connection.
/// </summary>
public sealed class QuickSilverSettings
{
    /// <summary>
    /// The connection string: <c>Servers=host:port;Cluster=name;Secret=text</c>. The one in <c>ConnectionStrings</c> with the
    /// name of the connection, which <c>WithReference</c> of the app host sets, replaces what the sections say.
    /// </summary>
    public string? ConnectionString { get; set; }

    /// <summary>Whether the node has no health checks. Default: false.</summary>
    public bool DisableHealthChecks { get; set; }

    /// <summary>Whether activities are not added to OpenTelemetry. Default: false.</summary>
    public bool DisableTracing { get; set; }

    /// <summary>Whether metrics are not added to OpenTelemetry. Default: false.</summary>
    public bool DisableMetrics { get; set; }
}

namespace QuickSilver.Core.Transport;

// What about the keys of the two sides kept a client from its service. None: the cause is another one, or it is not known.
internal enum KeyFault
{
    None = 0,

    // The certificate of the service is of another secret or authority.
    OtherService,

    // The certificate of the service is of the right authority, but out of date, or not for a service.
    ServiceCertificate,

    // The client's own certificate is out of date, or not for a node.
    OwnCertificate,

    // The service does not believe the client's secret or authority.
    NotAccepted,

    // The client has a key, and the service has none.
    ServiceWithoutKey,

    // The service has a key, and the client has none.
    ClientWithoutKey,
}
